// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the files in which task runners look for their tasks, and selects the reader of each.

use std::path::{Path, PathBuf};

use tenterhook_command_files::{
    self as command_files, CommandText, PythonDefault, TaskText, just_tasks, make_dry_run_tasks, make_tasks,
    package_tasks,
};
use tenterhook_facts::{FileRunner, RunFile, find_project_files};

use crate::symlinks::SymlinkProbe;

/// Maximum number of directories above the working directory in which a task runner looks.
const MAX_LEVELS: usize = 8;
/// Maximum number of entries of a directory that are looked at.
const MAX_ENTRIES: usize = 256;
/// Maximum number of files that are looked for because of a program's patterns.
const MAX_PROJECT_FILES: usize = 64;
/// Maximum number of directories in which commands of `go generate` are looked for.
const MAX_GO_DIRECTORIES: usize = 32;
/// Maximum number of files of one directory that are listed.
const MAX_LISTED: usize = 8;

const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];
const PACKAGE_FILES: &[&str] = &["package.json"];
const JUSTFILES: &[&str] = &["justfile", "Justfile", ".justfile"];
const RAKEFILES: &[&str] = &["rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"];
const GRADLE_FILES: &[&str] = &["build.gradle", "build.gradle.kts"];
const DENO_FILES: &[&str] = &["deno.json", "deno.jsonc"];
const TASKFILES: &[&str] =
    &["Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml"];
const MISE_FILES: &[&str] = &["mise.toml", ".mise.toml", ".config/mise.toml", "mise/config.toml"];
const COMPOSE_FILES: &[&str] = &["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"];
const COMPOSE_OVERRIDES: &[&str] =
    &["compose.override.yaml", "compose.override.yml", "docker-compose.override.yml"];
const DOCKERFILES: &[&str] = &["Dockerfile", "Containerfile"];

/// Paths in order of preference. Only the first one that exists is read.
pub(crate) type FileAlternatives = Vec<PathBuf>;

/// Returns the files that a request may run. One file of each group is read.
pub(crate) fn find_candidates(
    request: &RunFile,
    home: Option<&str>,
    probe: &mut SymlinkProbe,
) -> Vec<FileAlternatives> {
    let base = Path::new(&request.path);
    // Looking at a directory may have to wait until it is mounted.
    if probe.may_block(&request.path) {
        return Vec::new();
    }
    let is_script = matches!(request.runner, FileRunner::Script);
    // An option names the file.
    if is_script || !base.is_dir() {
        return vec![vec![base.to_owned()]];
    }
    let here = |names: &[&str]| vec![names.iter().map(|name| base.join(name)).collect::<Vec<_>>()];
    let upwards = |names: &[&str]| {
        let directories = base.ancestors().take(MAX_LEVELS);
        vec![directories.flat_map(|directory| names.iter().map(move |name| directory.join(name))).collect()]
    };
    let tasks = || request.tasks.iter().map(String::as_str);
    match request.runner {
        FileRunner::Script => Vec::new(),
        FileRunner::ProjectFiles => project_files(base, request, probe),
        FileRunner::Make | FileRunner::MakeDryRun => here(MAKEFILES),
        FileRunner::PackageScript | FileRunner::PackageInstall => upwards(PACKAGE_FILES),
        FileRunner::Just => upwards(JUSTFILES),
        FileRunner::PythonModule => tasks()
            .map(|module| {
                // `module:function` is written for the scripts of a `pyproject.toml`.
                let (module, function) = module.split_once(':').unwrap_or((module, ""));
                let path = module.replace('.', "/");
                if function.is_empty() {
                    return vec![base.join(&path).join("__main__.py"), base.join(format!("{path}.py"))];
                }
                let names = [format!("{path}.py"), format!("{path}/__init__.py")];
                ["", "src"]
                    .iter()
                    .flat_map(|start| names.clone().map(|name| base.join(start).join(name)))
                    .collect()
            })
            .collect(),
        FileRunner::Pytest => pytest_files(base, request),
        FileRunner::PythonSetup => {
            // `.[dev]`
            let directories = tasks().filter_map(|task| task.split('[').next());
            directories.map(|directory| vec![base.join(directory).join("setup.py")]).collect()
        }
        FileRunner::Cargo => {
            let package = base.ancestors().take(MAX_LEVELS).find(|dir| dir.join("Cargo.toml").is_file());
            vec![vec![package.unwrap_or(base).join("build.rs")]]
        }
        FileRunner::GoRun => tasks()
            .flat_map(|task| {
                let path = base.join(task);
                if task.strip_suffix(".go").is_some() { vec![path] } else { list_files(&path, "go") }
            })
            .map(|path| vec![path])
            .collect(),
        FileRunner::Rake => upwards(RAKEFILES),
        FileRunner::Gradle => {
            // `:app:test` is a task of the project in `app`.
            let projects = tasks().filter_map(|task| task.trim_start_matches(':').rsplit_once(':'));
            let projects = projects.map(|(project, _)| base.join(project.replace(':', "/")));
            let files = |dir: PathBuf| GRADLE_FILES.iter().map(|name| dir.join(name)).collect::<Vec<_>>();
            std::iter::once(base.to_owned()).chain(projects).map(files).collect()
        }
        FileRunner::Invoke => upwards(&["tasks.py", "tasks/__init__.py"]),
        FileRunner::Fabric => upwards(&["fabfile.py"]),
        FileRunner::Nox => here(&["noxfile.py"]),
        FileRunner::Tox => here(&["tox.ini"]),
        FileRunner::Composer => here(&["composer.json"]),
        FileRunner::Deno => upwards(DENO_FILES),
        FileRunner::Taskfile => upwards(TASKFILES),
        FileRunner::Mise => upwards(MISE_FILES),
        FileRunner::Compose => [upwards(COMPOSE_FILES), here(COMPOSE_OVERRIDES)].concat(),
        FileRunner::Dockerfile => {
            let context = base.join(tasks().next().unwrap_or("."));
            vec![DOCKERFILES.iter().map(|name| context.join(name)).collect()]
        }
        FileRunner::Playbook => named_files(base, request, &[".yml", ".yaml"]),
        FileRunner::Notebook => named_files(base, request, &[".ipynb"]),
        FileRunner::Terraform => list_files(base, "tf").into_iter().map(|path| vec![path]).collect(),
        FileRunner::GitAlias => {
            let own = |name: &str| home.map(|home| vec![Path::new(home).join(name)]);
            let global = [own(".gitconfig"), own(".config/git/config")];
            upwards(&[".git/config"]).into_iter().chain(global.into_iter().flatten()).collect()
        }
    }
}

/// Returns the files that the patterns of a program select: see [`find_project_files`].
fn project_files(base: &Path, request: &RunFile, probe: &mut SymlinkProbe) -> Vec<FileAlternatives> {
    let Some((program, words)) = request.tasks.split_first() else { return Vec::new() };
    let mut found = Vec::new();
    let words = || words.iter().map(String::as_str).filter(|word| !word.is_empty());
    for pattern in find_project_files(program, &words()) {
        let (pattern, levels) = match pattern.strip_prefix('^') {
            Some(pattern) => (pattern, MAX_LEVELS),
            None => (pattern, 1),
        };
        if let Some(rest) = pattern.strip_prefix("@dir/") {
            let named = words().map(|word| word.split_once('=').map_or(word, |(_, value)| value));
            let directories =
                named.filter(|word| !word.starts_with('-') && Path::new(word).extension().is_none());
            for directory in directories.take(MAX_LISTED).map(|word| base.join(word)) {
                if directory != base && !probe.may_block(&directory.to_string_lossy()) && directory.is_dir() {
                    found.extend(listed_files(&directory, rest, probe));
                }
            }
        } else if pattern == "@" {
            let files = words().filter(|word| !word.starts_with('-') && word.contains('.'));
            found.extend(files.take(MAX_LISTED).map(|word| vec![base.join(word)]));
        } else if pattern == "@module" {
            // `package.module:application`
            let modules = words().filter(|word| !word.starts_with('-') && !word.contains('/'));
            let file = |word: &str| {
                let module =
                    word.split(':').next().unwrap_or_default().trim_end_matches(".py").replace('.', "/");
                vec![base.join(format!("{module}.py")), base.join(module).join("__init__.py")]
            };
            found.extend(modules.take(MAX_LISTED).map(file));
        } else if pattern == "@scripts" {
            found.push(vec![base.join("package.json")]);
            found.extend(workspace_packages(base).into_iter().map(|path| vec![path]));
        } else if pattern == "@bazel" {
            found.extend(words().filter_map(|word| bazel_package(base, word)).take(MAX_LISTED));
        } else if pattern == "@django" {
            let mut names = words().filter(|word| !word.starts_with('-') && !word.ends_with("manage.py"));
            found.extend(names.next().map(|name| django_command(base, name)));
        } else if pattern == "//generate" {
            let lists = generate_directories(base, words())
                .into_iter()
                .map(|directory| listed_files(&directory, "*.go", probe));
            found.extend(lists.flatten());
        } else {
            let directories = base.ancestors().take(levels);
            let lists = directories.map(|directory| listed_files(directory, pattern, probe));
            // The nearest directory that has the file decides; the files are looked up one after the other.
            match levels {
                1 => found.extend(lists.flatten()),
                _ => found.push(lists.flatten().flatten().collect()),
            }
        }
    }
    found.truncate(MAX_PROJECT_FILES);
    found
}

/// Directories that contain the packages of a workspace.
const WORKSPACE_DIRECTORIES: &[&str] = &["packages", "apps", "libs", "services", "tools"];

/// Returns the entries of a directory that are directories and not hidden, sorted by name.
fn subdirectories(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().take(MAX_ENTRIES);
    let mut found: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with(['.', '_']))
        .map(|entry| entry.path())
        .filter(|path| !path.ends_with("node_modules"))
        .collect();
    found.sort();
    found
}

/// Returns the `package.json` files of the packages of a workspace.
fn workspace_packages(base: &Path) -> Vec<PathBuf> {
    let directories = WORKSPACE_DIRECTORIES.iter().flat_map(|name| subdirectories(&base.join(name)));
    directories.map(|directory| directory.join("package.json")).take(MAX_PROJECT_FILES).collect()
}

/// Returns the file that describes the package of a target: `//a/b:target`.
fn bazel_package(base: &Path, word: &str) -> Option<FileAlternatives> {
    let (package, _) = bazel_label(word)?;
    let directory = base.join(package);
    (directory != base).then(|| ["BUILD.bazel", "BUILD"].map(|name| directory.join(name)).to_vec())
}

/// Splits `//a/b:c` into the package `a/b` and the target `c`; `//a/b` means `//a/b:b`.
fn bazel_label(word: &str) -> Option<(&str, &str)> {
    let label = word.strip_prefix("//")?;
    let last = || label.rsplit('/').next().unwrap_or_default();
    Some(label.split_once(':').unwrap_or_else(|| (label, last())))
}

/// Returns the files in which a project may define a command of `manage.py`.
fn django_command(base: &Path, name: &str) -> FileAlternatives {
    if !name.chars().all(|letter| letter.is_alphanumeric() || letter == '_') {
        return Vec::new();
    }
    let first = subdirectories(base);
    let below = first.iter().take(MAX_LISTED).flat_map(|directory| subdirectories(directory));
    let directories: Vec<PathBuf> = below.take(MAX_PROJECT_FILES).collect();
    let file = |directory: &PathBuf| directory.join(format!("management/commands/{name}.py"));
    first.iter().chain(&directories).map(file).filter(|path| path.is_file()).collect()
}

/// Returns the directories that `go generate` visits: those that are named, with those below for `dir/...`.
fn generate_directories<'w>(base: &Path, words: impl Iterator<Item = &'w str>) -> Vec<PathBuf> {
    let named: Vec<&str> = words.filter(|word| word.starts_with('.')).collect();
    if named.is_empty() {
        return vec![base.to_owned()];
    }
    let directories = |word: &str| match word.strip_suffix("...") {
        Some(start) => go_directories(&base.join(start.trim_end_matches('/'))),
        None => vec![base.join(word)],
    };
    named.into_iter().take(MAX_LISTED).flat_map(directories).take(MAX_GO_DIRECTORIES).collect()
}

/// Returns the directories of a Go module, as far as `go generate ./...` visits them.
fn go_directories(base: &Path) -> Vec<PathBuf> {
    let mut directories = vec![base.to_owned()];
    let mut at = 0;
    while let Some(directory) =
        directories.get(at).cloned().filter(|_| directories.len() < MAX_GO_DIRECTORIES)
    {
        let entries = std::fs::read_dir(&directory).into_iter().flatten().take(MAX_GO_DIRECTORIES);
        let is_hidden = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            name.starts_with(['.', '_']) || matches!(name.as_str(), "vendor" | "node_modules" | "testdata")
        };
        let paths = entries
            .filter_map(|entry| entry.ok().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())));
        directories.extend(paths.map(|entry| entry.path()).filter(|path| !is_hidden(path)));
        at += 1;
    }
    directories.truncate(MAX_GO_DIRECTORIES);
    directories
}

/// Returns the files of a directory that a pattern selects.
pub(crate) fn listed_files(
    directory: &Path,
    pattern: &str,
    probe: &mut SymlinkProbe,
) -> Vec<FileAlternatives> {
    let Some((before, after)) = pattern.split_once('*') else {
        return vec![expand_braces(pattern).into_iter().map(|name| directory.join(name)).collect()];
    };
    if probe.may_block(&directory.to_string_lossy()) {
        return Vec::new();
    }
    let (parent, start) = before.rsplit_once('/').unwrap_or(("", before));
    let ends = expand_braces(after);
    let Ok(entries) = std::fs::read_dir(directory.join(parent)) else { return Vec::new() };
    let names = entries.take(MAX_ENTRIES).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_selected = |name: &String| {
        name.strip_prefix(start).is_some_and(|rest| ends.iter().any(|end| rest.ends_with(end.as_str())))
    };
    let mut names: Vec<String> = names.filter(is_selected).collect();
    names.sort();
    names.truncate(MAX_LISTED);
    names.into_iter().map(|name| vec![directory.join(parent).join(name)]).collect()
}

/// Expands the alternatives in a pattern: `a.{js,ts}`.
fn expand_braces(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let Some((inner, after)) = rest.split_once('}') else { return vec![pattern.to_owned()] };
    let after = expand_braces(after);
    let join = |choice: &str| after.iter().map(|end| format!("{before}{choice}{end}")).collect::<Vec<_>>();
    inner.split(',').flat_map(join).collect()
}

/// Returns the tasks that are names of files with one of these endings.
fn named_files(base: &Path, request: &RunFile, endings: &[&str]) -> Vec<FileAlternatives> {
    let is_file = |task: &&String| endings.iter().any(|ending| task.ends_with(ending));
    request.tasks.iter().filter(is_file).map(|task| vec![base.join(task)]).collect()
}

/// Returns the `conftest.py` files that pytest loads, and the tests that were named.
fn pytest_files(base: &Path, request: &RunFile) -> Vec<FileAlternatives> {
    let mut files = vec![base.join("conftest.py")];
    let named = request.tasks.iter().filter_map(|task| task.split("::").next()).map(|task| base.join(task));
    let named: Vec<_> = named.take(MAX_LISTED).collect();
    for path in &named {
        let between = path.ancestors().take_while(|dir| *dir != base && dir.starts_with(base));
        files.extend(between.filter(|dir| dir.extension().is_none()).map(|dir| dir.join("conftest.py")));
        if path.extension().is_some_and(|extension| extension == "py") {
            files.push(path.clone());
        }
    }
    if named.is_empty() {
        files.extend(["tests", "test"].map(|dir| base.join(dir).join("conftest.py")));
    }
    files.dedup();
    files.into_iter().map(|file| vec![file]).collect()
}

/// Returns the first files of a directory with this extension, sorted by name. Go test files are left out.
fn list_files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let paths = entries.take(MAX_ENTRIES).filter_map(|entry| Some(entry.ok()?.path()));
    let is_wanted = |path: &PathBuf| {
        let is_test = path.to_str().is_some_and(|path| path.ends_with("_test.go"));
        path.extension().is_some_and(|own| own == extension) && !is_test
    };
    let mut found: Vec<_> = paths.filter(is_wanted).collect();
    found.sort();
    found.truncate(MAX_LISTED);
    found
}

/// Whether a runner runs tasks in the directory of its file, and not in the working directory.
pub(crate) fn changes_directory(runner: FileRunner) -> bool {
    matches!(
        runner,
        FileRunner::PackageScript
            | FileRunner::PackageInstall
            | FileRunner::Just
            | FileRunner::Rake
            | FileRunner::Gradle
            | FileRunner::Invoke
            | FileRunner::Fabric
            | FileRunner::Nox
            | FileRunner::Tox
            | FileRunner::Composer
            | FileRunner::Deno
            | FileRunner::Taskfile
            | FileRunner::Mise
            | FileRunner::Compose
            | FileRunner::Cargo
            | FileRunner::PythonSetup
    )
}

/// Returns the commands that a runner runs from the text of its file.
pub(crate) fn read_tasks(runner: FileRunner, path: &str, text: &str, tasks: &[String]) -> Vec<TaskText> {
    let from_commands = |commands: Vec<CommandText>| commands.into_iter().map(TaskText::from).collect();
    let python = |default| command_files::python_tasks(text, tasks, default);
    match runner {
        FileRunner::Script => vec![TaskText::shell(text)],
        FileRunner::Make => from_commands(make_tasks(text, tasks)),
        FileRunner::MakeDryRun => from_commands(make_dry_run_tasks(text, tasks)),
        FileRunner::PackageScript => {
            from_commands(tasks.iter().flat_map(|script| package_tasks(text, script)).collect())
        }
        FileRunner::PackageInstall => command_files::install_tasks(text),
        FileRunner::Just => from_commands(just_tasks(text, tasks)),
        FileRunner::PythonModule | FileRunner::Pytest | FileRunner::PythonSetup => {
            let function =
                tasks.iter().find_map(|task| task.split_once(':').filter(|(_, name)| !name.is_empty()));
            match function.filter(|_| runner == FileRunner::PythonModule) {
                Some((_, function)) => command_files::python_function(text, function),
                None => vec![TaskText::code("python", text)],
            }
        }
        FileRunner::Cargo => command_files::rust_code(text),
        FileRunner::GoRun => command_files::go_code(text),
        FileRunner::Rake => command_files::rake_tasks(text, tasks),
        FileRunner::Gradle => command_files::gradle_tasks(text, tasks),
        FileRunner::Invoke | FileRunner::Fabric => python(PythonDefault::NoTask),
        FileRunner::Nox => python(PythonDefault::AllTasks),
        FileRunner::Tox => command_files::tox_tasks(text, tasks),
        FileRunner::Composer => command_files::composer_tasks(text, tasks),
        FileRunner::Deno => command_files::deno_tasks(text, tasks),
        FileRunner::Taskfile => command_files::taskfile_tasks(text, tasks),
        FileRunner::Mise => command_files::mise_tasks(text, tasks),
        FileRunner::Compose => command_files::compose_services(text, tasks),
        FileRunner::Dockerfile => command_files::dockerfile_steps(text),
        FileRunner::Playbook => command_files::playbook_commands(text, tasks),
        FileRunner::Terraform => command_files::terraform_commands(text),
        FileRunner::GitAlias => command_files::git_alias(text, tasks),
        FileRunner::Notebook => command_files::notebook_cells(text),
        FileRunner::ProjectFiles => read_project_file(path, text, tasks),
    }
}

/// Options that select the packages of a workspace.
const PACKAGE_OPTIONS: &[&str] = &["--scope", "--filter", "-F", "--workspace", "-w", "--projects", "-p"];

/// Returns the packages that the words of a workspace's task runner select: `--scope x`, `--filter=x...`.
fn selected_packages<'w>(words: &'w [String]) -> Vec<&'w str> {
    let value = |(at, word): (usize, &'w String)| {
        let rest = PACKAGE_OPTIONS.iter().find_map(|option| {
            let rest = word.strip_prefix(option)?;
            (rest.is_empty() || rest.starts_with('=')).then_some(rest)
        })?;
        if rest.is_empty() { words.get(at + 1).map(String::as_str) } else { rest.strip_prefix('=') }
    };
    let named = words.iter().enumerate().filter_map(value).flat_map(|names| names.split(','));
    // A pattern selects an unknown number of packages.
    named.map(|name| name.trim_matches('.')).filter(|name| !name.contains(['*', '{', '[', '^'])).collect()
}

/// Writes commands so that they run in the directory of a file.
fn in_directory_of(path: &str, commands: &str) -> String {
    let directory = path.rsplit_once('/').map_or("/", |(directory, _)| directory);
    format!("cd '{}' && {{\n{commands}\n}}", directory.replace('\'', r"'\''"))
}

/// Returns the commands of a file that a program runs or loads without being given its name.
fn read_project_file(path: &str, text: &str, tasks: &[String]) -> Vec<TaskText> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let mut words = tasks.iter().map(String::as_str);
    let has = |word: &str| tasks.iter().any(|task| task == word);
    match words.next() {
        Some("go") if has("generate") => command_files::go_generate_commands(text),
        Some("python" | "python3" | "manage.py") if path.contains("/management/commands/") => {
            vec![command_files::python_script(text)]
        }
        Some("turbo" | "nx" | "lerna") if name == "package.json" => {
            let selected = selected_packages(tasks);
            let is_selected = |package: &str| text.contains(&format!("\"{package}\""));
            if !selected.is_empty() && !selected.iter().any(|package| is_selected(package)) {
                return Vec::new();
            }
            let commands = words.flat_map(|script| package_tasks(text, script));
            commands.map(|command| TaskText::shell(in_directory_of(path, &command.text))).collect()
        }
        Some("poetry" | "pdm" | "hatch" | "uv" | "rye" | "poe" | "taskipy") if name == "pyproject.toml" => {
            command_files::named_scripts(text, tasks.get(1..).unwrap_or_default())
        }
        Some("bazel" | "bazelisk" | "buck2") if name.starts_with("BUILD") => {
            let targets: Vec<String> =
                words.filter_map(bazel_label).map(|(_, target)| target.to_owned()).collect();
            let commands = command_files::bazel_targets(text, &targets).into_iter();
            let root = tasks.iter().find_map(|word| {
                let directory = path.strip_suffix(&format!("/{name}"))?;
                directory.strip_suffix(bazel_label(word)?.0)
            });
            let root = root
                .map(|root| format!("export BUILD_WORKSPACE_DIRECTORY='{}'\n", root.trim_end_matches('/')));
            let before = root.unwrap_or_default();
            commands
                .map(|task| TaskText::shell(format!("{before}{}", in_directory_of(path, &task.text))))
                .collect()
        }
        _ => command_files::project_code(name, text),
    }
}

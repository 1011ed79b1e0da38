// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The texts of all rules that are in force for a call, and whose they are.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use tenterhook_event::Event;
use tenterhook_policy::{
    LoadMode, LoadedRules, PriceTable, Problem, RuleSet, RuleSettings, RuleSource, SourceLayer,
};

use crate::Home;
use crate::caller_rights::ReadRights;
use crate::daemon_port;
use crate::env::Env;
use crate::hook_files;
use crate::mode::Mode;
use crate::ownership_check;
use crate::packs::PackList;
use crate::program_files::list_descriptions;
use crate::read_file;
use crate::trust::{self, ProjectFile, ProjectReadError, ProjectText, Standing, Trust};
use tenterhook_error::Failure;

/// Where the agent works: a project's own rules depend on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// The root of the project.
    pub project: Option<PathBuf>,
}

/// All texts, weakest layer first, and what was chosen about them.
#[derive(Debug, Default)]
pub struct Sources {
    /// The texts.
    pub texts: Vec<Text>,
    /// Rules that are off, by their ids.
    pub disabled: Vec<String>,
    /// All rules only watch.
    pub monitor: bool,
    /// The person's own prices of models: the file, and what it says.
    pub prices: Option<(String, String)>,
    /// The texts that describe programs.
    pub programs: Vec<Text>,
    /// What cannot be used.
    pub problems: Vec<Problem>,
    /// What can be used but should be looked at.
    pub warnings: Vec<Problem>,
}

/// One text of rules.
#[derive(Debug)]
pub struct Text {
    /// What messages call it.
    pub name: String,
    /// What it says.
    pub yaml: Cow<'static, str>,
    /// Whose it is.
    pub layer: SourceLayer,
    /// How much it is trusted.
    pub standing: Standing,
    /// The pack it belongs to.
    pub pack: Option<String>,
}

// === impl Place ===

impl Place {
    /// Where an event happens.
    pub fn of(event: &Event) -> Self {
        let path =
            |text: &Option<String>| text.as_deref().map(PathBuf::from).filter(|path| path.is_absolute());
        Self { cwd: path(&event.cwd), project: path(&event.project) }
    }

    /// A directory somebody is in.
    pub fn at(cwd: Option<PathBuf>) -> Self {
        Self { cwd, project: None }
    }

    /// The texts of the project's rule files, outermost first.
    pub fn read_project(&self, person: Option<&Path>) -> Vec<ProjectText> {
        self.read_project_with(person, ReadRights::KernelChecked)
    }

    /// The same for a caller of another account, with the rights that this thread has.
    pub fn read_project_with(&self, person: Option<&Path>, rights: ReadRights) -> Vec<ProjectText> {
        let Some(cwd) = &self.cwd else { return Vec::new() };
        let read = |path: PathBuf| {
            let text = read_file::project_file(&path, rights.required_owner()).transpose()?;
            Some(ProjectText { text: text.map_err(|error| ProjectReadError(error.to_string())), path })
        };
        trust::project_files(cwd, self.project.as_deref(), person).into_iter().filter_map(read).collect()
    }
}

// === impl Sources ===

impl Sources {
    /// What is in force in a home, and in the project an agent works on.
    pub fn in_force(home: &Home, env: &Env, place: &Place) -> Self {
        Self::in_force_with(home, env, place.read_project(env.home.as_deref()))
    }

    /// What is in force in a home, and in a project whose files were read before.
    pub fn in_force_with(home: &Home, env: &Env, project: Vec<ProjectText>) -> Self {
        let mut found = Self::default();
        found.mode(home);
        let list = PackList::read(home).unwrap_or_else(|problem| {
            found.problems.push(*problem);
            PackList::default()
        });
        found.packs(home, &list);
        found.texts.extend(hook_files::rule(home, env));
        found.texts.extend(daemon_port::rule(home));
        if let Some(path) = &home.organisation {
            found.organisation(path);
        }
        if let Some(folder) = home.organisation_descriptions() {
            found.descriptions(&folder, SourceLayer::Organisation);
        }
        // Whom a home of the machine belongs to is the organisation.
        if home.organisation.as_ref() != Some(&home.policy()) {
            found.file(&home.policy(), SourceLayer::User);
            found.descriptions(&home.program_descriptions(), SourceLayer::User);
        }
        found.project(home, project);
        found.prices(&home.prices());
        found
    }

    /// The files of a folder that describe programs.
    pub fn descriptions(&mut self, folder: &Path, layer: SourceLayer) {
        match list_descriptions(folder) {
            Ok(files) => files.iter().for_each(|path| self.description(path, layer)),
            Err(error) => {
                let problem = Problem::whole(&folder.display().to_string(), error.to_string());
                self.problems
                    .push(problem.hint("no program of this folder is described until it can be read"));
            }
        }
    }

    /// A file that describes programs.
    pub fn description(&mut self, path: &Path, layer: SourceLayer) {
        let before = self.texts.len();
        self.file(path, layer);
        let Some(mut text) = self.texts.drain(before..).next() else { return };
        if layer == SourceLayer::Organisation
            && let Some(why) = ownership_check::exposed(path)
        {
            text.standing = Standing::Exposed;
            let message = format!("OTHERS CAN CHANGE THIS FILE: {why}. Its descriptions replace none");
            let hint = "give it and its directory to root, and take the right to write from the others";
            self.problems.push(Problem::whole(&text.name, message).hint(hint));
        }
        self.programs.push(text);
    }

    fn prices(&mut self, path: &Path) {
        let name = path.display().to_string();
        match read_file::regular_file(path) {
            Ok(text) => self.prices = text.map(|text| (name, text)),
            Err(error) => self.problems.push(Problem::whole(&name, error.to_string())),
        }
    }

    /// What models cost in a home. What is wrong with its own table is said where the rules are checked.
    pub fn prices_of(home: &Home) -> PriceTable {
        let path = home.prices();
        match read_file::regular_file(&path) {
            Ok(Some(text)) => PriceTable::with_own(&path.display().to_string(), &text).0,
            _ => PriceTable::built_in().clone(),
        }
    }

    fn mode(&mut self, home: &Home) {
        let source = home.mode().display().to_string();
        match Mode::read(home) {
            Ok(Mode::Enforce) => {}
            Ok(Mode::Monitor) => {
                self.monitor = true;
                let problem = Problem::whole(&source, "all rules only watch: nothing is stopped");
                self.warnings.push(problem.hint("make them hold again with `tenterhook mode enforce`"));
            }
            Err(error) => self.problems.push(Problem::whole(&source, error.message)),
        }
    }

    /// The packs compiled in that are on by default, and those that are named.
    pub fn compiled_in(&mut self, is_on: impl Fn(&tenterhook_policy::BuiltInPack) -> bool) {
        for pack in RuleSet::packs().iter().filter(|pack| is_on(pack)) {
            self.texts.push(Text {
                name: pack.source.name.to_owned(),
                yaml: Cow::Borrowed(pack.source.text),
                layer: SourceLayer::Baseline,
                standing: Standing::Trusted,
                pack: Some(pack.name.to_owned()),
            });
        }
    }

    fn packs(&mut self, home: &Home, list: &PackList) {
        let enabled = |pack: &tenterhook_policy::BuiltInPack| {
            pack.on_by_default || list.enabled.iter().any(|name| name == pack.name)
        };
        self.compiled_in(enabled);
        for name in &list.enabled {
            if crate::packs::compiled_in(name).is_none() {
                let source = home.pack_list().display().to_string();
                let problem = Problem::whole(&source, format!("there is no pack `{name}`"));
                self.problems.push(problem.hint("see `tenterhook rules list`"));
            }
        }
        for added in &list.sources {
            for (name, text) in added.texts(home, &mut self.problems) {
                self.texts.push(Text {
                    name,
                    yaml: Cow::Owned(text),
                    layer: SourceLayer::User,
                    standing: Standing::Trusted,
                    pack: Some(added.name.clone()),
                });
            }
        }
        self.disabled.clone_from(&list.disabled);
        // A pack that is off is every rule of it being off, so that a locked one stays.
        let is_off = |text: &Text| text.pack.as_deref().is_some_and(|pack| list.is_disabled(pack));
        let ids: Vec<String> = self
            .texts
            .iter()
            .filter(|text| is_off(text))
            .flat_map(|text| {
                let trusted = tenterhook_baseline::trusted();
                let loaded = RuleSet::load_with(&[text.source()], &RuleSettings::default(), trusted).rules;
                loaded
                    .rules()
                    .filter(|rule| !rule.locked())
                    .map(|rule| rule.id().to_owned())
                    .collect::<Vec<_>>()
            })
            .collect();
        self.disabled.retain(|name| !self.texts.iter().any(|text| text.pack.as_ref() == Some(name)));
        self.disabled.extend(ids);
    }

    /// A file that is not there is no problem; one that cannot be read is.
    pub fn file(&mut self, path: &Path, layer: SourceLayer) {
        let name = path.display().to_string();
        let read = match layer {
            SourceLayer::Organisation => read_file::organisation_file(path),
            _ => read_file::regular_file(path),
        };
        match read {
            Ok(None) => {}
            Ok(Some(text)) => self.texts.push(Text {
                name,
                yaml: Cow::Owned(text),
                layer,
                standing: Standing::Trusted,
                pack: None,
            }),
            Err(error) => self.problems.push(Problem::whole(&name, error.to_string())),
        }
    }

    /// The organisation's file is what others than the agent's user answer for. One that the agent could
    /// have written may be stricter, and nothing else.
    fn organisation(&mut self, path: &Path) {
        let before = self.texts.len();
        self.file(path, SourceLayer::Organisation);
        let Some(text) = self.texts.get_mut(before) else { return };
        if let Some(why) = ownership_check::exposed(path) {
            text.standing = Standing::Exposed;
            let message =
                format!("OTHERS CAN CHANGE THIS FILE: {why}. Only its rules that deny or ask count");
            let hint = "give it and its directory to root, and take the right to write from the others";
            self.problems.push(Problem::whole(&text.name, message).hint(hint));
        }
    }

    fn project(&mut self, home: &Home, project: Vec<ProjectText>) {
        let trust = Trust::read(home).unwrap_or_else(|error| {
            self.problems.push(Problem::whole(&home.trust().display().to_string(), error.message));
            Trust::default()
        });
        for ProjectText { path, text } in project {
            let name = path.display().to_string();
            // Descriptions of a project only add, so they need no trust.
            if let (false, Ok(yaml)) = (trust::is_rule_file(&path), &text) {
                let yaml = Cow::Owned(yaml.clone());
                let (layer, standing) = (SourceLayer::Project, Standing::Unknown);
                self.programs.push(Text { name, yaml, layer, standing, pack: None });
                continue;
            }
            let file = match text {
                Ok(text) => ProjectFile { standing: trust.standing(&path, &text), path, text },
                Err(ProjectReadError(why)) => {
                    self.problems.push(Problem::whole(&name, why));
                    continue;
                }
            };
            if file.standing != Standing::Trusted {
                let message = match file.standing {
                    Standing::Changed => {
                        "THIS FILE WAS CHANGED since it was trusted: only its rules that deny or ask count"
                    }
                    _ => "nobody has trusted this file: only its rules that deny or ask count",
                };
                let hint = "read it, then run `tenterhook policy trust`";
                self.warnings.push(Problem::whole(&name, message).hint(hint));
            }
            self.texts.push(Text {
                name,
                yaml: Cow::Owned(file.text),
                layer: SourceLayer::Project,
                standing: file.standing,
                pack: None,
            });
        }
    }

    /// The person's rules, as if their file said this.
    pub fn replace(&mut self, path: &Path, yaml: &str) {
        let name = path.display().to_string();
        let yaml = Cow::Owned(yaml.to_owned());
        if let Some(text) = self.texts.iter_mut().find(|text| text.name == name) {
            text.yaml = yaml;
            return;
        }
        let (layer, standing, pack) = (SourceLayer::User, Standing::Trusted, None);
        self.texts.push(Text { name, yaml, layer, standing, pack });
    }

    /// Loads the rules. Packs of the program are taken in their compiled form, all other files are checked.
    pub fn load(&self) -> LoadedRules {
        self.load_with(tenterhook_baseline::trusted())
    }

    /// Loads the rules and checks every file, packs of the program included.
    pub fn load_checked(&self) -> LoadedRules {
        self.load_with(LoadMode::Checked)
    }

    /// The rules of all texts, also those that are disabled.
    pub fn all_rules(&self) -> RuleSet {
        let sources: Vec<_> = self.texts.iter().map(Text::source).collect();
        let programs: Vec<_> = self.programs.iter().map(Text::source).collect();
        let choices = RuleSettings { programs: &programs, ..RuleSettings::default() };
        RuleSet::load_with(&sources, &choices, tenterhook_baseline::trusted()).rules
    }

    /// Loads the rules that are enabled. `mode` says whether compiled packs are trusted or checked.
    pub fn load_with(&self, mode: LoadMode<'_>) -> LoadedRules {
        let sources: Vec<_> = self.texts.iter().map(Text::source).collect();
        let disabled: Vec<_> = self.disabled.iter().map(String::as_str).collect();
        let prices = self.prices.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        let programs: Vec<_> = self.programs.iter().map(Text::source).collect();
        let choices =
            RuleSettings { disabled: &disabled, monitor: self.monitor, prices, programs: &programs };
        RuleSet::load_with(&sources, &choices, mode)
    }

    /// The same with another file in place of the person's policy.
    pub fn with_policy(mut self, home: &Home, path: &Path) -> Result<Self, Failure> {
        let own = home.policy().display().to_string();
        self.texts.retain(|text| text.name != own);
        let other = Self::files(&[path.to_owned()], SourceLayer::User)?;
        self.texts.extend(other.texts);
        Ok(self)
    }

    /// The texts of these files, as a person's own.
    pub fn files(paths: &[PathBuf], layer: SourceLayer) -> Result<Self, Failure> {
        let mut found = Self::default();
        for path in paths {
            if !path.exists() {
                return Err(Failure::user(format!("there is no file `{}`", path.display())));
            }
            found.file(path, layer);
        }
        if let Some(problem) = found.problems.first() {
            return Err(Failure::user(problem.to_string()));
        }
        Ok(found)
    }
}

// === impl Text ===

impl Text {
    /// The text as rules are loaded from it.
    pub fn source(&self) -> RuleSource<'_> {
        RuleSource {
            name: &self.name,
            text: &self.yaml,
            layer: self.layer,
            trusted: self.standing == Standing::Trusted,
        }
    }
}

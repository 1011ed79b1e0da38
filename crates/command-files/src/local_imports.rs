// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the files of the same project that a script loads: `import util`, `require('./util')`, `require_relative 'util'`.
//!
//! Lines are compared with the usual forms of each language. Modules that are computed are not found.

/// Maximum number of imports of one file that are returned.
const MAX_IMPORTS: usize = 16;

/// Returns the files that a script loads, relative to its directory. Each entry lists alternatives, of which the first that
/// exists is loaded.
pub fn local_imports(path: &str, text: &str) -> Vec<Vec<String>> {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let imports = match ending {
            "py" => python_imports(line),
            "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "tsx" | "jsx" => javascript_imports(line),
            "rb" => ruby_imports(line),
            "php" => php_imports(line),
            _ => return found,
        };
        for import in imports {
            if found.len() >= MAX_IMPORTS {
                return found;
            }
            if !found.contains(&import) {
                found.push(import);
            }
        }
    }
    found
}

/// `import a.b, c`, `from a import b`, `from .a import b`
fn python_imports(line: &str) -> Vec<Vec<String>> {
    if let Some(rest) = line.strip_prefix("from ") {
        let Some((module, names)) = rest.split_once(" import ") else { return Vec::new() };
        let module = module.trim().trim_start_matches('.');
        let names = names
            .trim()
            .trim_matches(['(', ')'])
            .split(',')
            .filter_map(|name| name.split_whitespace().next());
        // The names may be modules of the package.
        let members = names.filter(|name| is_module(name)).map(|name| match module {
            "" => module_files(name),
            module => module_files(&format!("{module}.{name}")),
        });
        let whole = is_module(module).then(|| module_files(module));
        return whole.into_iter().chain(members).collect();
    }
    let Some(modules) = line.strip_prefix("import ") else { return Vec::new() };
    let names = modules.split([',', ';']).filter_map(|module| module.split_whitespace().next());
    names.filter(|name| is_module(name)).map(module_files).collect()
}

fn is_module(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    name.split('.').all(is_part)
}

fn module_files(module: &str) -> Vec<String> {
    let path = module.replace('.', "/");
    vec![format!("{path}.py"), format!("{path}/__init__.py")]
}

/// `require('./a')`, `import x from './a'`, `import './a'`, `export * from './a'`
fn javascript_imports(line: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for start in ["require(", "from ", "import ", "import("] {
        for (at, _) in line.match_indices(start) {
            let rest = line.get(at + start.len()..).unwrap_or_default();
            let Some(name) = quoted(rest).filter(|name| name.starts_with("./") || name.starts_with("../"))
            else {
                continue;
            };
            let endings = ["", ".js", ".ts", ".mjs", ".cjs", "/index.js", "/index.ts"];
            found.push(endings.iter().map(|ending| format!("{name}{ending}")).collect());
        }
    }
    found
}

/// `require_relative 'a'`, `load './a.rb'`, `require './a'`
fn ruby_imports(line: &str) -> Vec<Vec<String>> {
    let relative =
        line.strip_prefix("require_relative").and_then(|rest| quoted(rest.trim_start_matches(['(', ' '])));
    let named = || {
        let rest = line.strip_prefix("require ").or_else(|| line.strip_prefix("load "))?;
        quoted(rest.trim_start()).filter(|name| name.starts_with("./") || name.starts_with("../"))
    };
    let Some(name) = relative.or_else(named) else { return Vec::new() };
    vec![vec![format!("{}.rb", name.trim_end_matches(".rb"))]]
}

/// `require 'a.php';`, `include_once(__DIR__ . '/a.php');`
fn php_imports(line: &str) -> Vec<Vec<String>> {
    let line = line.strip_prefix("<?php").unwrap_or(line).trim_start();
    let forms = ["require_once", "include_once", "require", "include"];
    let Some(rest) = forms.iter().find_map(|form| line.strip_prefix(form)) else { return Vec::new() };
    let rest = rest.trim_start_matches(['(', ' ']);
    let rest = rest.strip_prefix("__DIR__").map_or(rest, |rest| rest.trim_start_matches([' ', '.']));
    match quoted(rest) {
        Some(name) if !name.starts_with("http") => vec![vec![name.trim_start_matches('/').to_owned()]],
        _ => Vec::new(),
    }
}

/// Returns the content of a quoted string at the start of a text.
fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|letter| matches!(letter, '\'' | '"' | '`'))?;
    let name = text.get(1..)?.split_once(quote)?.0;
    (!name.is_empty() && !name.contains(['$', '#', '\n'])).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_files(path: &str, text: &str) -> Vec<String> {
        local_imports(path, text).into_iter().map(|alternatives| alternatives[0].clone()).collect()
    }

    #[test]
    fn imports_of_the_same_project_are_found() {
        assert_eq!(
            first_files("a.py", "import os, lib.util as u\nfrom .x import go\nfrom pkg import (a, b)\n"),
            ["os.py", "lib/util.py", "x.py", "x/go.py", "pkg.py", "pkg/a.py", "pkg/b.py"]
        );
        assert_eq!(
            first_files(
                "a.js",
                "const x = require('./x');\nimport y from '../y.mjs'\nimport 'react'\nrequire(`./${z}`)"
            ),
            ["./x", "../y.mjs"]
        );
        assert_eq!(
            first_files("a.rb", "require 'json'\nrequire_relative 'lib/y'\nload './z.rb'"),
            ["lib/y.rb", "./z.rb"]
        );
        assert_eq!(
            first_files("a.php", "<?php require 'y.php';\ninclude_once(__DIR__ . '/z.php');\ninclude $x;"),
            ["y.php", "z.php"]
        );
        assert_eq!(first_files("a.sh", "import x"), [""; 0]);
    }

    #[test]
    fn many_imports_are_limited() {
        let text = "import a1, a2, a3, a4, a5, a6, a7, a8, a9\nimport b1, b2, b3, b4, b5, b6, b7, b8, b9\n";
        assert_eq!(local_imports("a.py", text).len(), MAX_IMPORTS);
    }
}

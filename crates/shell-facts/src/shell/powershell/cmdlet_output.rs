// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Predicts the output of cmdlets: the paths that the next cmdlet in a pipeline receives.

use super::super::find::find_targets;
use super::super::narrow::narrow_words;
use super::super::scope::ShellScope;
use super::super::word::ShellWord;
use super::run_cmdlet::{CmdletArguments, to_path_word};
use super::value::{PowerShellValue, append_word};

/// Returns the output of a cmdlet, if it is known.
pub(super) fn cmdlet_output(
    cmdlet: &str,
    arguments: &CmdletArguments,
    flow: &PowerShellValue,
    from: &[usize],
    scope: &ShellScope,
) -> PowerShellValue {
    let unknown = || {
        let mut all = flow.sources();
        all.extend_from_slice(from);
        PowerShellValue::unknown("", &all)
    };
    let switches = &[
        "recurse",
        "force",
        "file",
        "directory",
        "hidden",
        "name",
        "resolve",
        "raw",
        "parent",
        "leaf",
        "verbose",
    ];
    let positional = arguments.positional(switches);
    match cmdlet {
        "write-output" | "get-variable" => {
            let mut output = PowerShellValue::default();
            for value in positional {
                output.extend(value.clone());
            }
            output
        }
        "join-path" => {
            let first = arguments.named(&["path"]).or(positional.first().copied());
            let named = arguments.named(&["path"]).is_some();
            let behind = || positional.iter().skip(usize::from(!named)).copied().collect();
            let child = arguments.named(&["childpath"]).map_or_else(behind, |child| vec![child]);
            let Some(first) = first else { return unknown() };
            let mut words = first.clone();
            for part in child {
                let child = part.join("/");
                for word in &mut words.items {
                    append_word(word, &ShellWord::literal("/"));
                    append_word(word, &child);
                }
            }
            words
        }
        "resolve-path" | "convert-path" | "get-item" => {
            let path = arguments.named(&["path", "literalpath"]).or(positional.first().copied()).cloned();
            path.or_else(|| (!flow.items.is_empty()).then(|| flow.clone())).unwrap_or_else(unknown)
        }
        "new-item" => {
            let path = arguments.named(&["path"]).or(positional.first().copied()).cloned();
            path.filter(|_| arguments.named(&["name"]).is_none()).unwrap_or_else(unknown)
        }
        "split-path" if !arguments.has("leaf") => {
            let path = arguments.named(&["path", "literalpath"]).or(positional.first().copied());
            let parent = path.and_then(PowerShellValue::known_text).map(|text| text.replace('\\', "/"));
            let parent = parent.and_then(|text| text.rsplit_once('/').map(|(parent, _)| parent.to_owned()));
            parent.map_or_else(unknown, |parent| PowerShellValue::literal(&parent))
        }
        "get-location" => scope.cwd.certain().map_or_else(unknown, PowerShellValue::literal),
        "new-temporaryfile" => PowerShellValue::literal("/tmp/x"),
        "new-guid" | "get-random" | "get-date" => PowerShellValue::literal("unique"),
        "get-childitem" => listed_items(arguments, &positional, flow, scope),
        "select-object" if arguments.has("expandproperty") && flow.items.is_empty() => unknown(),
        "sort-object" | "tee-object" | "get-unique" | "write-host" | "out-host" | "out-string"
        | "select-object" | "foreach" => {
            let narrowed =
                ["first", "last", "skip", "index"].iter().any(|name| arguments.named(&[*name]).is_some());
            let items = if narrowed { narrow_words(flow.items.clone()) } else { flow.items.clone() };
            PowerShellValue { items, ..flow.clone() }
        }
        "new-object" => {
            let named = arguments.named(&["typename", "comobject"]).or(positional.first().copied());
            let name = named.map(|value| value.join("").text.to_lowercase()).unwrap_or_default();
            let object = name.strip_prefix("system.").unwrap_or(&name).to_owned();
            PowerShellValue { object, ..unknown() }
        }
        _ => unknown(),
    }
}

/// Returns the files that `Get-ChildItem` finds, in the same form as those that `find` finds.
fn listed_items(
    arguments: &CmdletArguments,
    positional: &[&PowerShellValue],
    flow: &PowerShellValue,
    scope: &ShellScope,
) -> PowerShellValue {
    let paths = arguments.named(&["path", "literalpath"]).or(positional.first().copied());
    let paths = paths.or(Some(flow).filter(|flow| !flow.items.is_empty()));
    let mut roots: Vec<ShellWord> = paths
        .map(|paths| paths.items.iter().map(|item| to_path_word(item, scope)).collect())
        .unwrap_or_default();
    if roots.is_empty() {
        roots.push(ShellWord::literal("."));
    }
    let filters = arguments.named(&["filter", "include"]).or(positional.get(1).copied());
    let recursive = arguments.has("recurse") || arguments.has("s");
    let mut items = Vec::new();
    for root in roots {
        // `*.log` names the files themselves.
        if root.pattern && !recursive && filters.is_none() {
            items.push(root);
            continue;
        }
        let mut words = vec![ShellWord { text: root.shape.clone(), ..root }];
        if !recursive {
            words.extend([ShellWord::literal("-maxdepth"), ShellWord::literal("1")]);
        }
        words.extend([ShellWord::literal("-mindepth"), ShellWord::literal("1")]);
        for (at, filter) in
            filters.map(|filters| filters.items.as_slice()).unwrap_or_default().iter().enumerate()
        {
            if at > 0 {
                words.push(ShellWord::literal("-o"));
            }
            words.extend([ShellWord::literal("-name"), filter.clone()]);
        }
        items.extend(find_targets(&words));
    }
    PowerShellValue { items, ..PowerShellValue::default() }
}

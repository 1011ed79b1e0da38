// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `Read(./.env)`, `Edit(/src/**)`: files, as in a `.gitignore`.

use super::{Meaning, PermissionRuleError, Sense};
use tenterhook_document::yaml::Tree;

pub(super) fn meaning(tool: &str, of: &str, sense: Sense) -> Result<Meaning, PermissionRuleError> {
    let globs = globs(of)?;
    let reads = matches!(tool, "Read" | "Glob" | "Grep" | "LS");
    let matches = match sense {
        Sense::Stops => {
            let does: &[&str] = if reads { &["read"] } else { &["write", "append", "delete", "move"] };
            let effect = vec![("does", Tree::texts(does.iter().copied())), ("path", Tree::texts(globs))];
            vec![("effect", Tree::Map(effect))]
        }
        Sense::Vouches => {
            let tools: &[&str] = if reads { &["read"] } else { &["edit", "write"] };
            vec![("tool", Tree::texts(tools.iter().copied())), ("path", Tree::texts(globs))]
        }
    };
    Ok(Meaning::of(matches))
}

/// Globs of ours for a pattern of a permission rule, which is also about everything below.
fn globs(of: &str) -> Result<Vec<String>, PermissionRuleError> {
    if of.starts_with('!') {
        return Err(PermissionRuleError::NegatedPattern);
    }
    let of: String = of.chars().map(|letter| if "{}\\".contains(letter) { '?' } else { letter }).collect();
    let of = of.trim_end_matches('/');
    let glob = match of {
        "~" => "~".to_owned(),
        of if of.starts_with("~/") => of.to_owned(),
        of if of.starts_with("//") => of.replacen("//", "/", 1),
        of => {
            let inside = of.strip_prefix("./").or(of.strip_prefix('/'));
            match inside.unwrap_or(of) {
                // Without a `/` it is a name, wherever it stands.
                name if inside.is_none() && !name.contains('/') => format!("**/{name}"),
                "" | "**" => "*".to_owned(),
                path => path.to_owned(),
            }
        }
    };
    let whole = glob.ends_with("/**");
    let below = (!whole).then(|| format!("{glob}/**"));
    Ok(std::iter::once(glob).chain(below).collect())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Converts permissions on files: `Read(./.env)`, `Edit(/src/**)`, with patterns as in a `.gitignore`.

use super::{PermissionConditions, PermissionKind, PermissionRuleError};
use tenterhook_document::yaml::Tree;

pub(super) fn convert(
    tool: &str,
    of: &str,
    kind: PermissionKind,
) -> Result<PermissionConditions, PermissionRuleError> {
    let globs = convert_globs(of)?;
    let reads = matches!(tool, "Read" | "Glob" | "Grep" | "LS");
    let matches = match kind {
        PermissionKind::Restricts => {
            let does: &[&str] = if reads { &["read"] } else { &["write", "append", "delete", "move"] };
            let effect = vec![("does", Tree::texts(does.iter().copied())), ("path", Tree::texts(globs))];
            vec![("effect", Tree::Map(effect))]
        }
        PermissionKind::Allows => {
            let tools: &[&str] = if reads { &["read"] } else { &["edit", "write"] };
            vec![("tool", Tree::texts(tools.iter().copied())), ("path", Tree::texts(globs))]
        }
    };
    Ok(PermissionConditions::new(matches))
}

/// Returns the globs for the pattern of a permission rule, which also covers everything below the path.
fn convert_globs(of: &str) -> Result<Vec<String>, PermissionRuleError> {
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
                // A pattern without `/` is a name that matches in any directory.
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

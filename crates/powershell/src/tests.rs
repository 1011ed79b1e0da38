// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests of the parser.

use crate::{
    CommandElement, PowerShellExpression, PowerShellScript, PowerShellStage, PowerShellStatement, StringPart,
    decode_encoded_command, parse_powershell,
};

/// Writes a script as one line per pipeline, so that a test can compare it.
fn outline(script: &PowerShellScript) -> String {
    script.statements.iter().map(outline_statement).collect::<Vec<_>>().join("; ")
}

fn outline_statement(statement: &PowerShellStatement) -> String {
    match statement {
        PowerShellStatement::Pipeline(pipeline) => {
            pipeline.stages.iter().map(outline_stage).collect::<Vec<_>>().join(" | ")
        }
        PowerShellStatement::Assignment(assignment) => {
            format!("{} = {}", outline_value(&assignment.target), outline_statement(&assignment.value))
        }
        PowerShellStatement::ForEach(each) => {
            format!("foreach {} in {} {{{}}}", each.variable, outline(&each.list), outline(&each.body))
        }
        PowerShellStatement::Branches(branches) => {
            let all = branches.conditions.iter().chain(&branches.bodies);
            all.map(|part| format!("<{}>", outline(part))).collect::<Vec<_>>().concat()
        }
        PowerShellStatement::Function(function) => {
            format!(
                "function {}({}) {{{}}}",
                function.name,
                function.body.parameters.join(","),
                outline(&function.body)
            )
        }
        PowerShellStatement::Unparsed(text) => format!("UNPARSED {text}"),
        PowerShellStatement::TooDeep(_) => "TOO DEEP".to_owned(),
    }
}

fn outline_stage(stage: &PowerShellStage) -> String {
    match stage {
        PowerShellStage::Expression(value, redirects) => std::iter::once(outline_value(value))
            .chain(redirects.iter().map(outline_element))
            .collect::<Vec<_>>()
            .join(" "),
        PowerShellStage::Command(command) => {
            let words = command.elements.iter().map(outline_element);
            std::iter::once(outline_value(&command.name)).chain(words).collect::<Vec<_>>().join(" ")
        }
    }
}

fn outline_element(element: &CommandElement) -> String {
    match element {
        CommandElement::Parameter(name, None) => name.clone(),
        CommandElement::Parameter(name, Some(value)) => format!("{name}:{}", outline_value(value)),
        CommandElement::Argument(value) => outline_value(value),
        CommandElement::Redirect { appends, target } => {
            format!("{}{}", if *appends { ">>" } else { ">" }, outline_value(target))
        }
    }
}

fn outline_value(value: &PowerShellExpression) -> String {
    let all = |items: &[PowerShellExpression]| items.iter().map(outline_value).collect::<Vec<_>>().join(",");
    match value {
        PowerShellExpression::Text(parts) => parts
            .iter()
            .map(|part| match part {
                StringPart::Literal(text) => text.clone(),
                StringPart::Value(value) => format!("<{}>", outline_value(value)),
            })
            .collect(),
        PowerShellExpression::Variable(name) => format!("${name}"),
        PowerShellExpression::Splat(name) => format!("@{name}"),
        PowerShellExpression::List(items) => format!("[{}]", all(items)),
        PowerShellExpression::Statements(script) => format!("({})", outline(script)),
        PowerShellExpression::Block(script) => format!("{{{}}}", outline(script)),
        PowerShellExpression::Hash(entries) => {
            let entries = entries
                .iter()
                .map(|entry| format!("{}={}", outline_value(&entry.key), outline_statement(&entry.value)));
            format!("@{{{}}}", entries.collect::<Vec<_>>().join(";"))
        }
        PowerShellExpression::Type(name) => format!("[{name}]"),
        PowerShellExpression::Cast(name, value) => format!("[{name}]{}", outline_value(value)),
        PowerShellExpression::Member(member) => match &member.arguments {
            Some(arguments) => {
                format!(
                    "{}.{}({})",
                    outline_value(&member.target),
                    outline_value(&member.name),
                    all(arguments)
                )
            }
            None => format!("{}.{}", outline_value(&member.target), outline_value(&member.name)),
        },
        PowerShellExpression::Binary(operator, sides) => {
            let [left, right] = &**sides;
            format!("{} {operator} {}", outline_value(left), outline_value(right))
        }
        PowerShellExpression::Unary(operator, value) => format!("{operator} {}", outline_value(value)),
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(outline(&parse_powershell(text)), expected, "{text}");
}

#[test]
fn commands_have_parameters_arguments_and_redirections() {
    check("Remove-Item -Recurse -Force .\\build", "Remove-Item -Recurse -Force .\\build");
    check("rm -rf a,b c", "rm -rf [a,b] c");
    check("Get-Content -Path:a.txt -Raw", "Get-Content -Path:a.txt -Raw");
    check("git log --oneline -n 5 -- src", "git log --oneline -n 5 -- src");
    check("npm test 2>&1 | Out-File -FilePath log.txt", "npm test | Out-File -FilePath log.txt");
    check("echo hi > out.txt 2> $null", "echo hi >out.txt >$null");
    check("& \"C:\\Program Files\\x\\y.exe\" -a", "C:\\Program Files\\x\\y.exe -a");
    check("dotnet build -p:Configuration=Release", "dotnet build -p:Configuration=Release");
    check("cmake -DCMAKE_BUILD_TYPE=Release ..", "cmake -DCMAKE_BUILD_TYPE=Release ..");
    check("7z x a.zip", "7z x a.zip");
    check("a && b || c; d & e", "a; b; c; d; e");
    check("msiexec --% /i \"a b\" /qn", "msiexec /i a b /qn");
}

#[test]
fn strings_expand_variables_and_escapes() {
    check("'it''s $x'", "it's $x");
    check(
        "\"a `\"$env:USERPROFILE\\b`\" $(Get-Date) ${x}y $5\"",
        "a \"<$env:userprofile>\\b\" <(Get-Date)> <$x>y <$5>",
    );
    check("@'\nrm 'x'\n'@ | iex", "rm 'x'\n | iex");
    check("@\"\na $x\n\"@", "a <$x>\n");
    check("cat $env:USERPROFILE\\.ssh\\id_rsa", "cat <$env:userprofile>\\.ssh\\id_rsa");
    check("cat $x.FullName $y[0]", "cat $x.FullName $y.0");
    check("rm `\n  -r `\n  x", "rm -r x");
    check("i`ex x", "iex x");
    check("“a” ‘b’", "a; b");
}

#[test]
fn statements_and_expressions_are_understood() {
    check("$a = Join-Path $HOME 'x'", "$a = Join-Path $home x");
    check("$a += 1; $b", "$a = 1; $b");
    check("[IO.File]::Delete('a')", "[io.file].Delete(a)");
    check(
        "(New-Object Net.WebClient).DownloadString('u') | iex",
        "(New-Object Net.WebClient).DownloadString(u) | iex",
    );
    check("if ($x -eq 1) { a } elseif (b) { c } else { d }", "<$x eq 1><b><a><c><d>");
    check("foreach ($f in Get-ChildItem) { rm $f }", "foreach f in Get-ChildItem {rm $f}");
    check("Get-ChildItem | foreach { $_.Name }", "Get-ChildItem | foreach {$_.Name}");
    check("try { a } catch [X] { b } finally { c }", "<a><b><c>");
    check("for ($i = 0; $i -lt 3; $i++) { a }", "<$i = 0; $i lt 3; $i><a>");
    check("do { a } while ($x)", "<$x><a>");
    check("switch ($x) { 'a' { b } default { c } }", "<$x><a; {b}; default {c}>");
    check(
        "function Get-X { param([string]$A = 'q', $B) rm $A }",
        "function get-x(a,b) {rm $A}".replace("$A", "$a").as_str(),
    );
    check("@{ a = 1; b = @(1,2) }", "@{a=1;b=([1,2])}");
    check("&('i'+'ex') x", "(i + ex) x");
    check("a |\n  b\n| c", "a | b | c");
    check("ls # comment\n<# x #> pwd", "ls; pwd");
    check("return $x", "$x");
    check("'{0}' -f 'a'", "{0} f a");
    check("if", "if");
}

#[test]
fn an_encoded_command_is_utf16() {
    assert_eq!(decode_encoded_command("bABzAA=="), Some("ls".to_owned()));
    for text in ["hostname", "Get-Date", "x", "", "!!!!!!!!"] {
        assert_eq!(decode_encoded_command(text), None, "{text}");
    }
}

#[test]
fn text_that_is_nested_too_deeply_is_reported() {
    for open in ["(", "& { ", "if ($x) { ", "@(", "$(", "[a]", "while (1) { ", "a -b (", "\"$("] {
        let nested = open.repeat(300) + "x";
        assert!(outline(&parse_powershell(&nested)).contains("TOO DEEP"), "{open}");
        assert!(!outline(&parse_powershell(&open.repeat(5))).contains("TOO DEEP"), "{open}");
    }
}

#[test]
fn hostile_text_ends_quickly() {
    for part in [
        "(", "{", "[", "$(", "@{", "\"$(", "a|", "a,", "$a.", "$a[", "<#", "@'\n", "-", "!", "`", "[a]",
        "if(", "foreach(", "+", "%{", "}", ")", "'", "&",
    ] {
        let text = part.repeat(20_000);
        let start = std::time::Instant::now();
        parse_powershell(&text);
        assert!(start.elapsed().as_secs() < 5, "{part}");
    }
}

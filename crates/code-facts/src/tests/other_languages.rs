// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::check;

#[test]
fn r() {
    check(
        "r",
        &[
            (r#"system("rm -rf ~")"#, "shell rm -rf ~"),
            (r#"base::system("rm -rf ~", intern = TRUE)"#, "shell rm -rf ~"),
            (r#"x <- "rm -rf ~"; system(x)"#, "shell rm -rf ~"),
            (r#"unlink("/home/user", recursive = TRUE)"#, "delete! /home/user"),
            (r#"unlink(file.path("~", "x"))"#, "delete ~/x"),
            (r#"file.remove("a", "b")"#, "delete a; delete b"),
            (r#"system2("rm", c("-rf", "~"))"#, "start rm|-rf|~"),
            (r#"source("https://x.io/a.R")"#, "run https://x.io/a.R"),
            (r#"print("system('rm -rf ~')")"#, ""),
            ("# system('rm -rf ~')", ""),
            ("summary(df); plot(x)", ""),
            (r#"unlink("build")"#, "delete build"),
        ],
    );
}

#[test]
fn julia() {
    check(
        "julia",
        &[
            ("run(`rm -rf /home/user`)", "shell rm -rf /home/user"),
            ("rm(homedir(), recursive=true)", "delete! ~"),
            (r#"rm(joinpath(homedir(), "x"); recursive=true)"#, "delete! ~/x"),
            (r#"rm("a")"#, "delete a"),
            (r#"write("/etc/hosts", "x")"#, "write /etc/hosts"),
            (r#"println("run(`rm -rf ~`)")"#, ""),
            ("using Pkg; Pkg.test()", ""),
        ],
    );
}

#[test]
fn swift() {
    check(
        "swift",
        &[
            (
                r#"import Foundation; try FileManager.default.removeItem(atPath: "/home/user/Documents")"#,
                "delete! /home/user/Documents",
            ),
            (r#"try! FileManager.default.removeItem(at: URL(fileURLWithPath: "/x"))"#, "delete! /x"),
            (r#"system("rm -rf ~")"#, "shell rm -rf ~"),
            (r#"print("removeItem")"#, ""),
        ],
    );
}

#[test]
fn go() {
    check(
        "go",
        &[
            ("package main\nimport \"os\"\nfunc main() { os.RemoveAll(os.Getenv(\"HOME\")) }", "delete! ~"),
            ("home, _ := os.UserHomeDir()\nos.RemoveAll(home)", "delete! ~"),
            (r#"exec.Command("rm", "-rf", "/home/user").Run()"#, "start rm|-rf|/home/user"),
            (r#"exec.Command("sh", "-c", "rm -rf ~").Run()"#, "start sh|-c|rm -rf ~"),
            (r#"os.WriteFile("/etc/passwd", data, 0644)"#, "write /etc/passwd"),
            (r#"fmt.Println("os.RemoveAll(home)")"#, ""),
            ("// os.RemoveAll(\"/\")\nfmt.Println(1)", ""),
        ],
    );
}

#[test]
fn elixir() {
    check(
        "elixir",
        &[
            (r#"System.cmd("rm", ["-rf", "/home/user"])"#, "start rm|-rf|/home/user"),
            (r#"File.rm_rf!("/home/user")"#, "delete! /home/user"),
            ("File.rm_rf!(System.user_home!())", "delete! ~"),
            (r#"System.shell("rm -rf ~")"#, "shell rm -rf ~"),
            (":os.cmd('rm -rf ~')", "shell rm -rf ~"),
            (r#"IO.puts "File.rm_rf""#, ""),
        ],
    );
}

#[test]
fn languages_of_the_java_machine() {
    check(
        "groovy",
        &[
            (r#"new File("/home/user/Music").deleteDir()"#, "delete! /home/user/Music"),
            (r#""rm -rf /home/user".execute()"#, "shell rm -rf /home/user"),
            ("['rm', '-rf', '/x'].execute()", ""),
            (r#"println "deleteDir""#, ""),
        ],
    );
    check(
        "kotlin",
        &[
            (r#"java.io.File("/home/user").deleteRecursively()"#, "delete! /home/user"),
            (r#"Runtime.getRuntime().exec("rm -rf /x")"#, "shell rm -rf /x"),
            (r#"ProcessBuilder("rm", "-rf", "/x").start()"#, "start rm|-rf|/x"),
            (r#"println("File")"#, ""),
        ],
    );
    check(
        "scala",
        &[
            (r#"Runtime.getRuntime.exec("rm -rf /x")"#, "shell rm -rf /x"),
            (r#"Runtime.getRuntime().exec("rm -rf /x")"#, "shell rm -rf /x"),
            (r#"new java.io.File("/x").delete()"#, "delete /x"),
            (r#"os.remove.all(os.Path("/x"))"#, "delete! /x"),
            (r#"println("rm -rf")"#, ""),
        ],
    );
}

#[test]
fn functional_languages() {
    check(
        "ocaml",
        &[
            (r#"let _ = Sys.command "rm -rf ~""#, "shell rm -rf ~"),
            (r#"Sys.remove "/home/user/x";;"#, "delete /home/user/x"),
            (r#"(* Sys.command "rm" *) print_endline "x""#, ""),
        ],
    );
    check(
        "haskell",
        &[
            (r#"System.Process.callCommand "rm -rf ~""#, "shell rm -rf ~"),
            (r#"removeDirectoryRecursive "/home/user""#, "delete! /home/user"),
            ("-- system \"rm\"\nmain = putStrLn \"x\"", ""),
        ],
    );
    check(
        "raku",
        &[
            (r#"shell "rm -rf ~""#, "shell rm -rf ~"),
            ("run 'rm', '-rf', '/x'", "start rm|-rf|/x"),
            (r#"unlink "a""#, "delete a"),
            (r#"say "shell""#, ""),
        ],
    );
    check(
        "octave",
        &[
            (r#"system("rm -rf ~")"#, "shell rm -rf ~"),
            ("rmdir('/home/user', 's')", "delete! /home/user"),
            (r#"disp("system('x')")"#, ""),
        ],
    );
}

#[test]
fn lisps() {
    check(
        "lisp",
        &[
            (r#"(shell-command "rm -rf ~")"#, "shell rm -rf ~"),
            (r#"(delete-directory "~/x" t)"#, "delete! ~/x"),
            (r#"(delete-directory (expand-file-name "~") t)"#, "delete! ~"),
            (r#"(progn (setq x "rm -rf ~") (shell-command x))"#, "shell rm -rf ~"),
            (r#"(call-process "rm" nil nil nil "-rf" "~")"#, "start rm|*?|*?|-rf|~"),
            (r#"(system "rm -rf ~""#, "shell rm -rf ~"),
            (r#"(message "(shell-command \"rm\")")"#, ""),
            (r#"; (shell-command "rm")"#, ""),
            (r#"'(shell-command "rm")"#, ""),
            (")))((", ""),
        ],
    );
    check(
        "clojure",
        &[
            (r#"(clojure.java.shell/sh "rm" "-rf" "/x")"#, "start rm|-rf|/x"),
            (r#"(babashka.fs/delete-tree "/home/user")"#, "delete! /home/user"),
            (r#"(.delete (java.io.File. "/x"))"#, "delete /x"),
            (r#"(println "sh")"#, ""),
        ],
    );
}

#[test]
fn names_in_other_spellings_are_the_same_names() {
    check("python", &[("import os; os.ｓｙｓｔｅｍ(\"rm -rf ~\")", "shell rm -rf ~")]);
    check("javascript", &[(r#"require("fs").\u0072mSync("/x",{recursive:true})"#, "delete! /x")]);
}

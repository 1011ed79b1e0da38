// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Well-known calls of many languages, and names of the home directory. Everything is in lower case, except literals.

/// Calls that delete a directory with everything in it.
pub(super) const DELETE_TREE_CALLS: &[&str] = &[
    "remove_dir_all",
    "removeall(",
    "deleterecursively",
    "deletedir(",
    "deletedirectory",
    "deletetree",
    "delete_tree",
    "delete-tree",
    "delete-directory",
    "delete-file-recursively",
    "delete_directory_and_contents",
    "deltree",
    "directory.delete(",
    "directory.delete ",
    "directoryinfo(",
    "del_dir_r",
    "fileutils.rm_r",
    "file(remove_recurse",
    "removedir",
    "removedirectoryrecursive",
    "removepathforcibly",
    "rmdirrecurse",
    "rmdir_all",
    "rm_rf",
    "rmtree",
    "remove_all(",
    "remove.all(",
    "removeitem(",
    "forcedelete(",
    "cleandirectory(",
    ".delete(dir",
    "deletesync(recursive",
    ".delete(recursive",
];

/// Calls that delete one file. With a walk through a directory they delete all of them.
pub(super) const DELETE_CALLS: &[&str] = &[
    "files.delete",
    "file.delete",
    "remove_file(",
    "removefile(",
    "deletefile",
    "delete-file",
    ".delete()",
    ".delete f",
    ".unlink(",
    "unlink(",
    "rmdir(",
    "rmdir ",
    "call delete(",
    "fn.delete(",
    "trashitem(",
    "os.remove(",
    "file.remove(",
];

/// Calls that go through a directory.
pub(super) const WALK_CALLS: &[&str] = &[
    "walk",
    "file-seq",
    "directory-list",
    "directory-files",
    "listfiles",
    "list_dir",
    "getfiles(",
    "getdirectories(",
    "enumeratefiles(",
    "direntries(",
    "contentsofdirectory",
    "read_dir",
    "readdir",
    "scandir",
    "ftw(",
    "children",
    "list.files",
    "glob",
];

/// Calls that write a file.
pub(super) const WRITE_CALLS: &[&str] = &[
    "writealltext",
    "writealllines",
    "appendalltext",
    "writefile(",
    "write_file",
    "write-region",
    "save-buffer",
    "files.write",
    "fs::write",
    "writestring(",
    "writetext(",
    "appendtext(",
    "filewriter(",
    "streamwriter(",
    "file::create(",
    "with-output-to-file",
    "spit ",
    "file.write",
    "file(write",
    "file(append",
    "savecontent(",
    "ofstream",
    ".append(true)",
    ".write(true)",
    "fopen(",
];

/// Calls that read a file.
pub(super) const READ_CALLS: &[&str] = &[
    "readalltext",
    "readallbytes",
    "readalllines",
    "readfile",
    "read_file",
    "read_to_string(",
    "readstring(",
    "readtext(",
    "readlines",
    "files.read",
    "fs::read(",
    "file.read",
    "filereader(",
    "streamreader(",
    "file::open(",
    "file->string",
    "file-read",
    "slurp ",
    "std.file.read",
    "ifstream",
    "import[",
    "upload_file(",
    "bun.file(",
    "inputstream(",
    "readbytes(",
    "bufferedreader(",
    "call-with-input-file",
    "open-input-file",
    "port->bytes",
    "slurp(",
];

/// Calls that run a program or shell text.
pub(super) const RUN_CALLS: &[&str] = &[
    "system",
    "exec",
    "spawn",
    "popen",
    "command",
    "process",
    "shell",
    "callcommand",
    "run(",
    "run[",
    "run-program",
    ".!",
    "(sh ",
    "{sh",
    "syscmd",
];

/// Calls that send or fetch data.
pub(super) const SEND_CALLS: &[&str] =
    &["post", "put", "http", "curl", "fetch", "upload", "request", "urlexecute", "url-retrieve", "connect"];

/// Calls and variables that contain the path of the home directory.
pub(super) const HOME_NAMES: &[&str] = &[
    "homedir",
    "gethomedir",
    "home_dir",
    "userhomedir",
    "homedirectory",
    "home-dir",
    "gethomedirectory",
    "user-homedir-pathname",
    "system.user_home",
    "os.home",
    "path.home",
    "fs/home",
    "dir.home",
    "specialfolder.userprofile",
    "specialfolder.personal",
    "env(home)",
    "$env(home)",
    "userdirectorypath",
];

/// Literals that name the home directory: the name of a variable or property, or the directory itself.
pub(super) const HOME_LITERALS: &[&str] =
    &["HOME", "USERPROFILE", "user.home", "~", "~/", "$HOME", "%USERPROFILE%"];

/// Programs that run their argument after `-c` as shell text.
pub(super) const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "fish", "busybox"];

/// Calls that select some of the files of a directory.
pub(super) const FILTER_CALLS: &[&str] = &[
    "endswith",
    "startswith",
    "ends_with",
    "starts_with",
    "hassuffix",
    "hasprefix",
    "extension",
    "fnmatch",
    "regex",
    "=~",
    "mtime",
    "lastmodified",
    "modified(",
];

/// Directories with which an absolute path begins.
pub(super) const ROOT_DIRECTORIES: &[&str] = &[
    "/home/",
    "/Users/",
    "/root",
    "/etc/",
    "/usr/",
    "/var/",
    "/opt/",
    "/boot",
    "/srv/",
    "/tmp/",
    "/dev/",
    "/mnt/",
    "/Library/",
    "/System/",
    "/Applications/",
    "/workspace",
];

// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Collects the rule files that apply to a call, with the layer of each file.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use tenterhook_event::{Event, Timestamp};
use tenterhook_fleet_bundle::{Bundle, BundleRules, FLEET_SOURCE};
use tenterhook_policy::{
    LoadMode, LoadedRules, PriceTable, Problem, RulePage, RuleSet, RuleSettings, RuleSource, SourceLayer,
};

use crate::Home;
use crate::call_meta;
use crate::caller_rights::ReadRights;
use crate::daemon_port;
use crate::env::Env;
use crate::fleet_policy::FleetPolicy;
use crate::hook_files;
use crate::levels::ProtectionLevel;
use crate::mode::{Mode, ModeSetting};
use crate::ownership_check;
use crate::packs::PackList;
use crate::program_files::list_descriptions;
use crate::read_file;
use crate::trust::{self, ProjectFile, ProjectReadError, ProjectText, Standing, TrustStore};
use tenterhook_error::Failure;

/// The directories in which an agent works. They determine which project's rules apply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct WorkDirs {
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// The root of the project.
    pub project: Option<PathBuf>,
}

/// All rule files, weakest layer first, with the user's choices about them.
#[derive(Debug, Default)]
pub struct Sources {
    /// Rule files of all layers.
    pub texts: Vec<SourceFile>,
    /// Ids of disabled rules.
    pub disabled: Vec<String>,
    /// Whether all rules are only monitored.
    pub monitor: bool,
    /// The level of protection.
    pub level: ProtectionLevel,
    /// When monitor mode ends by itself.
    pub monitor_until: Option<Timestamp>,
    /// The user's price file for models: its path and its content.
    pub prices: Option<(String, String)>,
    /// The policy of the fleet that the machine belongs to.
    pub fleet: Option<FleetPolicy>,
    /// Files that describe programs.
    pub programs: Vec<SourceFile>,
    /// Files and entries that cannot be used.
    pub problems: Vec<Problem>,
    /// Files and entries that work but need the user's attention, such as an untrusted project file.
    pub warnings: Vec<Problem>,
}

/// A rule file, or a file that describes programs.
#[derive(Debug)]
pub struct SourceFile {
    /// Name in messages: the path, or the name of a built-in pack.
    pub name: String,
    /// Content of the file.
    pub yaml: Cow<'static, str>,
    /// Layer of the file.
    pub layer: SourceLayer,
    /// How far the file is trusted.
    pub standing: Standing,
    /// Name of the rule pack that the file belongs to.
    pub pack: Option<String>,
}

// === impl WorkDirs ===

impl WorkDirs {
    /// The directories of an event.
    pub fn of(event: &Event) -> Self {
        let path =
            |text: &Option<String>| text.as_deref().map(PathBuf::from).filter(|path| path.is_absolute());
        Self { cwd: path(&event.cwd), project: path(&event.project) }
    }

    /// A working directory without a project root.
    pub fn at(cwd: Option<PathBuf>) -> Self {
        Self { cwd, project: None }
    }

    /// Reads the rule files of the project, outermost first.
    pub fn read_project(&self, user_home: Option<&Path>) -> Vec<ProjectText> {
        self.read_project_with(user_home, ReadRights::KernelChecked)
    }

    /// Reads the rule files of the project on behalf of another account. `rights` says whether the kernel already
    /// limits this thread to files that the account may read.
    pub fn read_project_with(&self, user_home: Option<&Path>, rights: ReadRights) -> Vec<ProjectText> {
        let Some(cwd) = &self.cwd else { return Vec::new() };
        let read = |path: PathBuf| {
            let text = read_file::project_file(&path, rights.required_owner()).transpose()?;
            Some(ProjectText { text: text.map_err(|error| ProjectReadError(error.to_string())), path })
        };
        trust::project_files(cwd, self.project.as_deref(), user_home).into_iter().filter_map(read).collect()
    }
}

// === impl Sources ===

impl Sources {
    /// Collects the rule sources of a home and of the agent's project.
    pub fn collect(home: &Home, env: &Env, place: &WorkDirs) -> Self {
        Self::collect_with_project(home, env, place.read_project(env.home.as_deref()))
    }

    /// Collects the rule sources of a home and of a project whose files were already read.
    pub fn collect_with_project(home: &Home, env: &Env, project: Vec<ProjectText>) -> Self {
        let mut found = Self::default();
        found.read_mode(home);
        let list = PackList::read(home).unwrap_or_else(|problem| {
            found.problems.push(*problem);
            PackList::default()
        });
        found.add_packs(home, &list);
        found.texts.extend(hook_files::protection_rule(home, env));
        found.texts.extend(daemon_port::protection_rule(home));
        // Of two rules with one id the first applies. A bundle precedes the organisation's file only if its membership is
        // confirmed, and no other account than root can replace the keys that the bundle is verified with.
        let fleet_at = found.texts.len();
        if let Some(path) = &home.organisation {
            found.add_organisation(path);
        }
        let fleet = FleetPolicy::load(home);
        let is_exposed = fleet.as_ref().is_some_and(|fleet| fleet.is_exposed || !fleet.is_trusted());
        found.add_fleet_policy(fleet, if is_exposed { found.texts.len() } else { fleet_at });
        if let Some(folder) = home.organisation_descriptions() {
            found.add_descriptions(&folder, SourceLayer::Organisation);
        }
        // The policy of a machine-wide home is the organisation's file, which was added above.
        if home.organisation.as_ref() != Some(&home.policy()) {
            found.add_file(&home.policy(), SourceLayer::User);
            found.add_descriptions(&home.program_descriptions(), SourceLayer::User);
        }
        found.add_project(home, project);
        found.read_prices(&home.prices());
        found
    }

    /// Adds all program descriptions in a directory.
    pub fn add_descriptions(&mut self, folder: &Path, layer: SourceLayer) {
        match list_descriptions(folder) {
            Ok(files) => files.iter().for_each(|path| self.add_description(path, layer)),
            Err(error) => {
                let problem = Problem::for_file(&folder.display().to_string(), error.to_string());
                self.problems
                    .push(problem.hint("no program of this directory is described until it can be read"));
            }
        }
    }

    /// Adds one file with program descriptions.
    pub fn add_description(&mut self, path: &Path, layer: SourceLayer) {
        let before = self.texts.len();
        self.add_file(path, layer);
        let Some(mut text) = self.texts.drain(before..).next() else { return };
        if layer == SourceLayer::Organisation
            && let Some(why) = ownership_check::find_exposure(path)
        {
            text.standing = Standing::Exposed;
            let message =
                format!("OTHERS CAN CHANGE THIS FILE: {why}. Its descriptions cannot replace others");
            let hint =
                "make root the owner of the file and its directories, and remove write permission for others";
            self.problems.push(Problem::for_file(&text.name, message).hint(hint));
        }
        self.programs.push(text);
    }

    fn read_prices(&mut self, path: &Path) {
        let name = path.display().to_string();
        match read_file::regular_file(path) {
            Ok(text) => self.prices = text.map(|text| (name, text)),
            Err(error) => self.problems.push(Problem::for_file(&name, error.to_string())),
        }
    }

    /// Loads the model prices of a home. This function does not report mistakes in the user's price file; checking
    /// the rules reports them.
    pub fn load_prices(home: &Home) -> PriceTable {
        let path = home.prices();
        match read_file::regular_file(&path) {
            Ok(Some(text)) => PriceTable::with_own(&path.display().to_string(), &text).0,
            _ => PriceTable::built_in().clone(),
        }
    }

    fn read_mode(&mut self, home: &Home) {
        let source = home.mode().display().to_string();
        match ModeSetting::read(home) {
            Ok(ModeSetting { mode: Mode::Enforce, .. }) => {}
            Ok(ModeSetting { mode: Mode::Monitor, until, .. }) => {
                (self.monitor, self.monitor_until) = (true, until);
                let problem = Problem::for_file(&source, "all rules are only monitored: nothing is denied");
                self.warnings.push(problem.hint("enforce them again with `tenterhook mode enforce`"));
            }
            Err(error) => self.problems.push(Problem::for_file(&source, error.message)),
        }
    }

    /// Adds the built-in packs that `is_on` selects.
    pub fn add_built_in_packs(&mut self, is_on: impl Fn(&tenterhook_policy::BuiltInPack) -> bool) {
        for pack in RuleSet::packs().iter().filter(|pack| is_on(pack)) {
            self.texts.push(SourceFile {
                name: pack.source.name.to_owned(),
                yaml: Cow::Borrowed(pack.source.text),
                layer: SourceLayer::Baseline,
                standing: Standing::Trusted,
                pack: Some(pack.name.to_owned()),
            });
        }
    }

    fn add_packs(&mut self, home: &Home, list: &PackList) {
        self.level = list.level;
        self.add_built_in_packs(|pack| list.is_loaded(pack));
        for name in &list.enabled {
            if crate::packs::built_in(name).is_none() {
                let source = home.pack_list().display().to_string();
                let problem = Problem::for_file(&source, format!("there is no pack `{name}`"));
                self.problems.push(problem.hint("see `tenterhook rules list`"));
            }
        }
        for added in &list.sources {
            for (name, text) in added.read_texts(home, &mut self.problems) {
                self.texts.push(SourceFile {
                    name,
                    yaml: Cow::Owned(text),
                    layer: SourceLayer::User,
                    standing: Standing::Trusted,
                    pack: Some(added.name.clone()),
                });
            }
        }
        self.disabled.clone_from(&list.disabled);
        // For a disabled pack, only its unlocked rules are disabled, so its locked rules stay in force.
        let is_off = |text: &SourceFile| text.pack.as_deref().is_some_and(|pack| list.is_disabled(pack));
        let ids: Vec<String> = self
            .texts
            .iter()
            .filter(|text| is_off(text))
            .flat_map(|text| {
                let trusted = tenterhook_baseline::trusted();
                let loaded = RuleSet::load_with(&[text.source()], &RuleSettings::default(), trusted).rules;
                loaded
                    .rules()
                    .filter(|rule| !rule.locked())
                    .map(|rule| rule.id().to_owned())
                    .collect::<Vec<_>>()
            })
            .collect();
        self.disabled.retain(|name| !self.texts.iter().any(|text| text.pack.as_ref() == Some(name)));
        self.disabled.extend(ids);
    }

    /// Adds a rule file. A missing file is ignored; an unreadable file is reported as a problem.
    pub fn add_file(&mut self, path: &Path, layer: SourceLayer) {
        let name = path.display().to_string();
        let read = match layer {
            SourceLayer::Organisation => read_file::organisation_file(path),
            _ => read_file::regular_file(path),
        };
        match read {
            Ok(None) => {}
            Ok(Some(text)) => self.texts.push(SourceFile {
                name,
                yaml: Cow::Owned(text),
                layer,
                standing: Standing::Trusted,
                pack: None,
            }),
            Err(error) => self.problems.push(Problem::for_file(&name, error.to_string())),
        }
    }

    /// Adds the rules and descriptions of the fleet's bundle.
    fn add_fleet_policy(&mut self, policy: Option<FleetPolicy>, at: usize) {
        let Some(policy) = policy else { return };
        self.problems.extend(policy.problems.iter().cloned());
        if let Some(yaml) = policy.lost_rule() {
            self.texts
                .insert(at, SourceFile::of_fleet((format!("{FLEET_SOURCE}lost"), yaml), Standing::Trusted));
        }
        if let Some(bundle) = &policy.bundle {
            self.add_bundle(bundle, at, &policy);
            let name = format!("{FLEET_SOURCE}{}", bundle.manifest.version);
            if policy.problems.is_empty() && !policy.is_trusted() {
                let message =
                    "this machine joined its fleet without a confirmation: only rules that deny or ask count";
                let hint = "to confirm it, leave the fleet and join it again on a terminal";
                self.warnings.push(Problem::for_file(&name, message).hint(hint));
            }
            if bundle.is_stale(call_meta::now()) {
                let message =
                    format!("the organisation's policy was valid until {}", bundle.manifest.not_after);
                let hint = "this machine has to reach its fleet server: `tenterhook fleet status`";
                self.warnings.push(Problem::for_file(&name, message).hint(hint));
            }
        }
        self.fleet = Some(policy);
    }

    /// Replaces the rules and descriptions of the fleet's bundle by those of another one.
    pub fn replace_fleet_policy(&mut self, bundle: &Bundle) {
        let at = self.texts.iter().position(|text| text.name.starts_with(FLEET_SOURCE));
        let at = at.or_else(|| self.texts.iter().position(|text| text.layer > SourceLayer::Baseline));
        self.texts.retain(|text| !text.name.starts_with(FLEET_SOURCE));
        self.programs.retain(|text| !text.name.starts_with(FLEET_SOURCE));
        if let Some(policy) = self.fleet.clone() {
            self.add_bundle(bundle, at.unwrap_or(self.texts.len()), &policy);
        }
    }

    /// Adds a bundle. If no user confirmed the membership, only its rules that deny or ask apply. If an account
    /// other than root can replace the keys that it is verified with, its descriptions cannot replace others: locked rules
    /// depend on them.
    fn add_bundle(&mut self, bundle: &Bundle, at: usize, policy: &FleetPolicy) {
        let standing = |is_trusted| if is_trusted { Standing::Trusted } else { Standing::Exposed };
        let (rules_standing, descriptions) =
            (standing(policy.is_trusted()), standing(policy.is_trusted() && !policy.is_exposed));
        let BundleRules { rules, programs } = bundle.rules();
        self.texts.splice(at..at, rules.into_iter().map(|rules| SourceFile::of_fleet(rules, rules_standing)));
        self.programs.splice(0..0, programs.into_iter().map(|text| SourceFile::of_fleet(text, descriptions)));
    }

    /// Adds the organisation's file. If an account other than root can change it, only its rules that deny or ask
    /// apply.
    fn add_organisation(&mut self, path: &Path) {
        let before = self.texts.len();
        self.add_file(path, SourceLayer::Organisation);
        let Some(text) = self.texts.get_mut(before) else { return };
        if let Some(why) = ownership_check::find_exposure(path) {
            text.standing = Standing::Exposed;
            let message =
                format!("OTHERS CAN CHANGE THIS FILE: {why}. Only its rules that deny or ask count");
            let hint =
                "make root the owner of the file and its directories, and remove write permission for others";
            self.problems.push(Problem::for_file(&text.name, message).hint(hint));
        }
    }

    fn add_project(&mut self, home: &Home, project: Vec<ProjectText>) {
        let trust = TrustStore::read(home).unwrap_or_else(|error| {
            self.problems.push(Problem::for_file(&home.trust().display().to_string(), error.message));
            TrustStore::default()
        });
        for ProjectText { path, text } in project {
            let name = path.display().to_string();
            // A project's program descriptions can only add programs, so they need no trust.
            if let (false, Ok(yaml)) = (trust::is_rule_file(&path), &text) {
                let yaml = Cow::Owned(yaml.clone());
                let (layer, standing) = (SourceLayer::Project, Standing::Unknown);
                self.programs.push(SourceFile { name, yaml, layer, standing, pack: None });
                continue;
            }
            let file = match text {
                Ok(text) => ProjectFile { standing: trust.standing(&path, &text), path, text },
                Err(ProjectReadError(why)) => {
                    self.problems.push(Problem::for_file(&name, why));
                    continue;
                }
            };
            if file.standing != Standing::Trusted {
                let message = match file.standing {
                    Standing::Changed => {
                        "THIS FILE WAS CHANGED since it was trusted: only its rules that deny or ask count"
                    }
                    _ => "this file is not trusted: only its rules that deny or ask count",
                };
                let hint = "read it, then run `tenterhook rules trust`";
                self.warnings.push(Problem::for_file(&name, message).hint(hint));
            }
            self.texts.push(SourceFile {
                name,
                yaml: Cow::Owned(file.text),
                layer: SourceLayer::Project,
                standing: file.standing,
                pack: None,
            });
        }
    }

    /// Replaces the content of the user's policy with `yaml`, or adds it if the user has no policy.
    pub fn replace_policy(&mut self, path: &Path, yaml: &str) {
        let name = path.display().to_string();
        let yaml = Cow::Owned(yaml.to_owned());
        if let Some(text) = self.texts.iter_mut().find(|text| text.name == name) {
            text.yaml = yaml;
            return;
        }
        let (layer, standing, pack) = (SourceLayer::User, Standing::Trusted, None);
        self.texts.push(SourceFile { name, yaml, layer, standing, pack });
    }

    /// Loads the rules. Built-in packs are loaded in compiled form, all other files are checked.
    pub fn load(&self) -> LoadedRules {
        self.load_with(tenterhook_baseline::trusted())
    }

    /// Loads the rules and checks every file, including built-in packs.
    pub fn load_checked(&self) -> LoadedRules {
        self.load_with(LoadMode::Checked)
    }

    /// All rules, including disabled ones.
    pub fn all_rules(&self) -> RuleSet {
        let sources: Vec<_> = self.texts.iter().map(SourceFile::source).collect();
        let programs: Vec<_> = self.programs.iter().map(SourceFile::source).collect();
        let choices = RuleSettings { programs: &programs, ..RuleSettings::default() };
        RuleSet::load_with(&sources, &choices, tenterhook_baseline::trusted()).rules
    }

    /// Loads the enabled rules. `mode` says whether compiled packs are trusted or checked.
    pub fn load_with(&self, mode: LoadMode<'_>) -> LoadedRules {
        let sources: Vec<_> = self.texts.iter().map(SourceFile::source).collect();
        let disabled: Vec<_> = self.disabled.iter().map(String::as_str).collect();
        let prices = self.prices.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        let programs: Vec<_> = self.programs.iter().map(SourceFile::source).collect();
        let choices =
            RuleSettings { disabled: &disabled, monitor: self.monitor, prices, programs: &programs };
        RuleSet::load_with(&sources, &choices, mode)
    }

    /// Replaces the user's policy with the file at `path`.
    pub fn with_policy(mut self, home: &Home, path: &Path) -> Result<Self, Failure> {
        let own = home.policy().display().to_string();
        self.texts.retain(|text| text.name != own);
        let other = Self::from_files(&[path.to_owned()], SourceLayer::User)?;
        self.texts.extend(other.texts);
        Ok(self)
    }

    /// Creates sources that contain only the given files.
    pub fn from_files(paths: &[PathBuf], layer: SourceLayer) -> Result<Self, Failure> {
        let mut found = Self::default();
        for path in paths {
            if !path.exists() {
                return Err(Failure::user(format!("there is no file `{}`", path.display())));
            }
            found.add_file(path, layer);
        }
        if let Some(problem) = found.problems.first() {
            return Err(Failure::user(problem.to_string()));
        }
        Ok(found)
    }
}

// === impl SourceFile ===

impl SourceFile {
    /// A file of the fleet's bundle: its name and text.
    fn of_fleet((name, yaml): (String, String), standing: Standing) -> Self {
        Self { name, yaml: Cow::Owned(yaml), layer: SourceLayer::Organisation, standing, pack: None }
    }

    /// The file as a source for loading rules.
    pub fn source(&self) -> RuleSource<'_> {
        RuleSource {
            name: &self.name,
            text: &self.yaml,
            layer: self.layer,
            trusted: self.standing == Standing::Trusted,
        }
    }

    /// Returns the lines of one rule: from its first line up to the next rule at the same indentation.
    pub fn rule_lines(&self, line: usize) -> Vec<&str> {
        let depth = |line: &str| line.len() - line.trim_start().len();
        let mut lines = self.yaml.lines().skip(line.saturating_sub(1));
        let Some(first) = lines.next() else { return Vec::new() };
        let rule = lines.take_while(|line| line.trim().is_empty() || depth(line) > depth(first));
        let mut rule: Vec<_> = std::iter::once(first).chain(rule).collect();
        while rule.last().is_some_and(|line| line.trim().is_empty()) {
            rule.pop();
        }
        rule
    }

    /// Returns the description of one rule in words.
    pub fn rule_page(&self, id: &str) -> Option<RulePage> {
        tenterhook_policy::rule_pages(&self.source()).into_iter().find(|page| page.id == id)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Changes that would break a client or daemon of an older version.

use std::collections::BTreeMap;

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorSet, ServiceDescriptorProto};

/// Everything of `old` that `new` lacks or defines differently.
pub(crate) fn changes(old: &FileDescriptorSet, new: &FileDescriptorSet) -> Vec<String> {
    let (old, new) = (Everything::of(old), Everything::of(new));
    let mut changes = Vec::new();
    for (name, was) in &old.0 {
        match new.0.get(name) {
            None => changes.push(format!("`{name}` is gone")),
            Some(is) if is != was => changes.push(format!("`{name}` was {was} and is {is}")),
            Some(_) => {}
        }
    }
    changes
}

/// Every field, value and method by its full name, with everything that matters on the wire.
struct Everything(BTreeMap<String, String>);

impl Everything {
    fn of(set: &FileDescriptorSet) -> Self {
        let mut all = Self(BTreeMap::new());
        for file in &set.file {
            let package = file.package();
            file.message_type.iter().for_each(|message| all.message(package, message));
            file.enum_type.iter().for_each(|values| all.values(package, values));
            file.service.iter().for_each(|service| all.service(package, service));
        }
        all
    }

    fn message(&mut self, outer: &str, message: &DescriptorProto) {
        let name = format!("{outer}.{}", message.name());
        for field in &message.field {
            let label = if field.label() == Label::Repeated { "repeated " } else { "" };
            let kind = match field.r#type() {
                Type::Message | Type::Enum => field.type_name().to_owned(),
                kind => kind.as_str_name().to_owned(),
            };
            let group = field.oneof_index.filter(|_| !field.proto3_optional());
            let group =
                group.map(|at| format!(" in {}", message.oneof_decl[at.unsigned_abs() as usize].name()));
            let what = format!("{label}{kind} = {}{}", field.number(), group.unwrap_or_default());
            self.0.insert(format!("{name}.{}", field.name()), what);
        }
        self.0.insert(name.clone(), "a message".to_owned());
        message.nested_type.iter().for_each(|inner| self.message(&name, inner));
        message.enum_type.iter().for_each(|values| self.values(&name, values));
    }

    fn values(&mut self, outer: &str, values: &EnumDescriptorProto) {
        let name = format!("{outer}.{}", values.name());
        for value in &values.value {
            self.0.insert(format!("{name}.{}", value.name()), format!("the value {}", value.number()));
        }
        self.0.insert(name, "an enum".to_owned());
    }

    fn service(&mut self, outer: &str, service: &ServiceDescriptorProto) {
        for method in &service.method {
            let many = |many| if many { "stream " } else { "" };
            let (takes, gives) = (many(method.client_streaming()), many(method.server_streaming()));
            let what = format!("({takes}{}) returns ({gives}{})", method.input_type(), method.output_type());
            self.0.insert(format!("{outer}.{}.{}", service.name(), method.name()), what);
        }
    }
}

#[test]
fn every_kind_of_break_is_seen_and_an_addition_is_none() {
    let set = |text: &str| {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("p.proto"), text).unwrap();
        protox::compile(["p.proto"], [dir.path()]).unwrap()
    };
    let old = "syntax = 'proto3'; package p; message M { string a = 1; repeated E e = 2; oneof o { int32 x = 3; } } \
               enum E { ZERO = 0; ONE = 1; } service S { rpc Do(M) returns (stream M); }";
    let changed = |from: &str, to: &str| changes(&set(old), &set(&old.replace(from, to)));
    assert_eq!(changed("string a = 1;", "string a = 1; bytes new = 9;"), Vec::<String>::new());
    for (from, to, seen) in [
        ("string a = 1;", "", "`p.M.a` is gone"),
        ("a = 1", "a = 7", "`p.M.a` was TYPE_STRING = 1 and is TYPE_STRING = 7"),
        ("string a", "bytes a", "`p.M.a` was TYPE_STRING = 1 and is TYPE_BYTES = 1"),
        ("repeated E", "E", "`p.M.e` was repeated .p.E = 2 and is .p.E = 2"),
        ("oneof o { int32 x = 3; }", "int32 x = 3;", "`p.M.x` was TYPE_INT32 = 3 in o and is TYPE_INT32 = 3"),
        ("ONE = 1", "ONE = 2", "`p.E.ONE` was the value 1 and is the value 2"),
        ("stream M", "M", "`p.S.Do` was (.p.M) returns (stream .p.M) and is (.p.M) returns (.p.M)"),
        ("service S { rpc Do(M) returns (stream M); }", "", "`p.S.Do` is gone"),
    ] {
        assert_eq!(changed(from, to), [seen], "{from} → {to}");
    }
}

//! Which objects the user asks about: names as kubectl takes them, `TYPE/NAME`, or a bare name for a pool.

use std::str::FromStr;

/// A kind that is explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// FooControlPlane.
    ControlPlane,
    /// FooNodeConfig.
    NodeConfig,
    /// FooMachinePool.
    Pool,
}

/// One object by kind and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: String,
}

impl FromStr for Asked {
    type Err = String;

    /// `workers`, `foomp/workers`, `foocontrolplane/prod`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, name) = match text.split_once('/') {
            None => (Kind::Pool, text),
            Some((kind, name)) => (kind_of(kind)?, name),
        };
        if name.is_empty() {
            Err("the name is missing".to_owned())
        } else {
            Ok(Self { kind, name: name.to_owned() })
        }
    }
}

/// The kind by any of the names that kubectl knows it by.
fn kind_of(text: &str) -> Result<Kind, String> {
    let (resource, _group) = text.split_once('.').unwrap_or((text, ""));
    match resource.to_ascii_lowercase().as_str() {
        "foocontrolplane" | "foocontrolplanes" | "foocp" => Ok(Kind::ControlPlane),
        "foonodeconfig" | "foonodeconfigs" | "foonc" => Ok(Kind::NodeConfig),
        "foomachinepool" | "foomachinepools" | "foomp" => Ok(Kind::Pool),
        _ => Err(format!("{text} is none of foomachinepool, foocontrolplane and foonodeconfig")),
    }
}

/// Which objects of a kind are asked for: `None` for none of them, no names for all.
pub fn of_kind(asked: &[Asked], kind: Kind) -> Option<Vec<String>> {
    if asked.is_empty() {
        return Some(Vec::new());
    }
    let names: Vec<String> = asked.iter().filter(|it| it.kind == kind).map(|it| it.name.clone()).collect();
    (!names.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(Kind, String), String> {
        text.parse::<Asked>().map(|asked| (asked.kind, asked.name))
    }

    #[test]
    fn a_bare_name_is_a_pools_and_others_name_their_kind_as_kubectl_does() {
        assert_eq!(parse("workers"), Ok((Kind::Pool, "workers".to_owned())));
        for kind in ["foocp", "foocontrolplane", "FooControlPlane", "foocontrolplanes.controlplane.foo.com"] {
            assert_eq!(parse(&format!("{kind}/prod")), Ok((Kind::ControlPlane, "prod".to_owned())));
        }
        assert_eq!(parse("foonc/linux"), Ok((Kind::NodeConfig, "linux".to_owned())));
        assert_eq!(parse("foomp/w"), Ok((Kind::Pool, "w".to_owned())));
        assert!(parse("pod/x").is_err() && parse("foocp/").is_err());
    }

    #[test]
    fn without_names_all_of_each_kind_are_meant_and_with_names_only_their_kinds() {
        assert_eq!(of_kind(&[], Kind::NodeConfig), Some(Vec::new()));
        let asked = ["workers", "foocp/prod"].map(|it| it.parse().unwrap());
        assert_eq!(of_kind(&asked, Kind::Pool), Some(vec!["workers".to_owned()]));
        assert_eq!(of_kind(&asked, Kind::ControlPlane), Some(vec!["prod".to_owned()]));
        assert_eq!(of_kind(&asked, Kind::NodeConfig), None);
    }
}

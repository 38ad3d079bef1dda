//! Which objects the user asks about: as kubectl takes them, `TYPE`, `TYPE NAME...` or `TYPE/NAME...`, or bare names of
//! the kind that a command is mostly about.

use crate::refused::Usage;
use foo_api::capi::{Cluster, Machine};
use foo_api::{FooCluster, FooControlPlane, FooMachinePool, FooNodeConfig};
use kube::{CustomResourceExt, Resource};
use std::borrow::Cow;

/// A kind that a command is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Cluster, of Cluster API.
    Cluster,
    /// FooCluster.
    FooCluster,
    /// FooControlPlane.
    ControlPlane,
    /// FooNodeConfig.
    NodeConfig,
    /// FooMachinePool.
    Pool,
    /// Machine, of Cluster API.
    Machine,
}

/// What kubectl calls a kind.
struct Names {
    kind: Cow<'static, str>,
    plural: Cow<'static, str>,
    short: &'static [&'static str],
    group: Cow<'static, str>,
    version: Cow<'static, str>,
}

fn names<K: Resource<DynamicType = ()>>(short: &'static [&'static str]) -> Names {
    let (kind, plural) = (K::kind(&()), K::plural(&()));
    Names { kind, plural, short, group: K::group(&()), version: K::version(&()) }
}

impl Kind {
    fn names(self) -> Names {
        match self {
            Self::FooCluster => names::<FooCluster>(FooCluster::shortnames()),
            Self::ControlPlane => names::<FooControlPlane>(FooControlPlane::shortnames()),
            Self::NodeConfig => names::<FooNodeConfig>(FooNodeConfig::shortnames()),
            Self::Pool => names::<FooMachinePool>(FooMachinePool::shortnames()),
            // Those of Cluster API's CRDs.
            Self::Cluster => names::<Cluster>(&["cl"]),
            Self::Machine => names::<Machine>(&["ma"]),
        }
    }

    /// Its name in lower case, as it is used for `TYPE/NAME`.
    pub fn word(self) -> String {
        self.names().kind.to_ascii_lowercase()
    }

    /// The kind among these by any of the names that kubectl knows it by: kind, plural or short name, alone or with
    /// the group, or with version and group.
    fn of(text: &str, among: &[Self]) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let (resource, qualifier) = text.split_once('.').unwrap_or((&text, ""));
        among.iter().copied().find(|kind| {
            let Names { kind, plural, short, group, version } = kind.names();
            let named =
                kind.eq_ignore_ascii_case(resource) || plural == resource || short.contains(&resource);
            let qualified =
                qualifier.is_empty() || qualifier == group || qualifier == format!("{version}.{group}");
            named && qualified
        })
    }
}

/// One object by kind and name, or all of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its kind.
    pub kind: Kind,
    /// Its name; all of the kind when absent.
    pub name: Option<String>,
}

/// The objects that arguments name, among the kinds that a command is about. A bare name is one of the first of these
/// kinds. As with kubectl, a first argument that is a type is one, also if an object has such a name.
///
/// # Errors
/// A type is unknown to the command, a name is missing, or both ways of naming a type are mixed.
pub fn asked(arguments: &[String], among: &[Kind]) -> Result<Vec<Asked>, Usage> {
    if let Some((first, names)) = arguments.split_first()
        && let Some(kind) = Kind::of(first, among)
    {
        if let Some(mixed) = names.iter().find(|name| name.contains('/')) {
            return Err(Usage(format!("{mixed} names a type although {first} is one already")));
        }
        if names.is_empty() {
            return Ok(vec![Asked { kind, name: None }]);
        }
        return names.iter().map(|name| named(kind, name)).collect();
    }
    arguments.iter().map(|text| one(text, among)).collect()
}

/// `workers`, `foomp/workers`, `foocontrolplane/prod`.
fn one(text: &str, among: &[Kind]) -> Result<Asked, Usage> {
    let Some((kind, name)) = text.split_once('/') else {
        let kind = among.first().copied().unwrap_or(Kind::Pool);
        return named(kind, text);
    };
    let Some(known) = Kind::of(kind, among) else {
        let words: Vec<String> = among.iter().map(|kind| kind.word()).collect();
        return Err(Usage(match words.as_slice() {
            [only] => format!("{kind} is not {only}"),
            words => format!("{kind} is none of {}", words.join(", ")),
        }));
    };
    named(known, name)
}

fn named(kind: Kind, name: &str) -> Result<Asked, Usage> {
    if name.is_empty() {
        return Err(Usage(format!("the name of a {} is missing", kind.word())));
    }
    Ok(Asked { kind, name: Some(name.to_owned()) })
}

/// Which objects of a kind are asked for: `None` for none of them, no names for all.
pub fn of_kind(asked: &[Asked], kind: Kind) -> Option<Vec<String>> {
    if asked.is_empty() {
        return Some(Vec::new());
    }
    let of_kind: Vec<&Asked> = asked.iter().filter(|it| it.kind == kind).collect();
    if of_kind.iter().any(|it| it.name.is_none()) {
        return Some(Vec::new());
    }
    let names: Vec<String> = of_kind.into_iter().filter_map(|it| it.name.clone()).collect();
    (!names.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPLAINED: [Kind; 3] = [Kind::Pool, Kind::ControlPlane, Kind::NodeConfig];

    /// What `kubectl foo explain` with these arguments is about.
    fn explains(arguments: &str) -> Result<Vec<Asked>, Usage> {
        asked(&arguments.split_whitespace().map(str::to_owned).collect::<Vec<_>>(), &EXPLAINED)
    }

    #[expect(clippy::unnecessary_wraps, reason = "compared with a Result")]
    fn names(kind: Kind, names: &[&str]) -> Result<Vec<Asked>, Usage> {
        Ok(names.iter().map(|name| Asked { kind, name: Some((*name).to_owned()) }).collect())
    }

    #[test]
    fn a_bare_name_is_of_the_first_kind_and_others_are_named_as_in_kubectl() {
        assert_eq!(explains("workers gpu"), names(Kind::Pool, &["workers", "gpu"]));
        let of_control_planes = [
            "foocp",
            "foocontrolplane",
            "FooControlPlane",
            "foocontrolplanes.controlplane.foo.com",
            "foocontrolplanes.v1alpha1.controlplane.foo.com",
        ];
        for kind in of_control_planes {
            assert_eq!(explains(&format!("{kind}/prod")), names(Kind::ControlPlane, &["prod"]));
            assert_eq!(explains(&format!("{kind} prod dev")), names(Kind::ControlPlane, &["prod", "dev"]));
        }
        assert_eq!(explains("foonc/linux"), names(Kind::NodeConfig, &["linux"]));
        assert_eq!(explains("foomp/w"), names(Kind::Pool, &["w"]));
        let clusters = asked(&["cl/a".to_owned(), "b".to_owned()], &[Kind::Cluster]);
        assert_eq!(clusters, names(Kind::Cluster, &["a", "b"]));
    }

    #[test]
    fn what_is_no_object_is_refused() {
        let refused = |arguments: &str| explains(arguments).map_err(|usage| usage.0).unwrap_err();
        assert_eq!(refused("pod/x"), "pod is none of foomachinepool, foocontrolplane, foonodeconfig");
        assert_eq!(
            refused("foomp.other.com/x"),
            "foomp.other.com is none of foomachinepool, foocontrolplane, foonodeconfig"
        );
        assert_eq!(refused("foocp/"), "the name of a foocontrolplane is missing");
        assert_eq!(
            refused("foomachinepool foocp/prod"),
            "foocp/prod names a type although foomachinepool is one already"
        );
        let status = asked(&["foomp/x".to_owned()], &[Kind::Cluster]);
        assert_eq!(status, Err(Usage("foomp is not cluster".to_owned())));
    }

    #[test]
    fn a_type_is_followed_by_names_of_its_objects_or_means_all_of_them() {
        assert_eq!(explains("foomachinepool linux windows"), names(Kind::Pool, &["linux", "windows"]));
        let all = explains("foonodeconfigs").unwrap();
        assert_eq!(of_kind(&all, Kind::NodeConfig), Some(Vec::new()));
        assert_eq!(of_kind(&all, Kind::Pool), None);
    }

    #[test]
    fn without_names_all_of_each_kind_are_meant_and_with_names_only_their_kinds() {
        assert_eq!(of_kind(&[], Kind::NodeConfig), Some(Vec::new()));
        let asked = explains("workers foocp/prod").unwrap();
        assert_eq!(of_kind(&asked, Kind::Pool), Some(vec!["workers".to_owned()]));
        assert_eq!(of_kind(&asked, Kind::ControlPlane), Some(vec!["prod".to_owned()]));
        assert_eq!(of_kind(&asked, Kind::NodeConfig), None);
    }
}

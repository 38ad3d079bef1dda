//! Which objects the user asks about: as kubectl takes them, `TYPE`, `TYPE NAME...` or `TYPE/NAME`, or a bare name for
//! a pool.

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

/// One object by kind and name, or all of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its kind.
    pub kind: Kind,
    /// Its name; all of the kind when absent.
    pub name: Option<String>,
}

/// The objects that arguments name: `workers`, `foomp/workers foocontrolplane/prod`, `foocontrolplane prod`,
/// `foonodeconfigs`. As with kubectl, a first argument that is a type is one, also if a pool has such a name.
///
/// # Errors
/// A type is unknown, a name is missing, or both ways of naming a type are mixed.
pub fn asked(arguments: &[String]) -> Result<Vec<Asked>, String> {
    if let Some((first, names)) = arguments.split_first()
        && let Some(kind) = kind_of(first)
    {
        if let Some(mixed) = names.iter().find(|name| name.contains('/')) {
            return Err(format!("{mixed} names a type although {first} is one already"));
        }
        if names.is_empty() {
            return Ok(vec![Asked { kind, name: None }]);
        }
        return Ok(names.iter().map(|name| Asked { kind, name: Some(name.clone()) }).collect());
    }
    arguments.iter().map(|text| one(text)).collect()
}

/// `workers`, `foomp/workers`, `foocontrolplane/prod`.
fn one(text: &str) -> Result<Asked, String> {
    let (kind, name) = match text.split_once('/') {
        None => (Kind::Pool, text),
        Some((kind, name)) => {
            let known = kind_of(kind);
            let unknown = || format!("{kind} is none of foomachinepool, foocontrolplane and foonodeconfig");
            (known.ok_or_else(unknown)?, name)
        }
    };
    if name.is_empty() {
        Err("the name is missing".to_owned())
    } else {
        Ok(Asked { kind, name: Some(name.to_owned()) })
    }
}

/// The kind by any of the names that kubectl knows it by.
fn kind_of(text: &str) -> Option<Kind> {
    if text.contains('/') {
        return None;
    }
    let (resource, _group) = text.split_once('.').unwrap_or((text, ""));
    match resource.to_ascii_lowercase().as_str() {
        "foocontrolplane" | "foocontrolplanes" | "foocp" => Some(Kind::ControlPlane),
        "foonodeconfig" | "foonodeconfigs" | "foonc" => Some(Kind::NodeConfig),
        "foomachinepool" | "foomachinepools" | "foomp" => Some(Kind::Pool),
        _ => None,
    }
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

    /// What `kubectl foo explain` with these arguments is about.
    fn explains(arguments: &str) -> Result<Vec<Asked>, String> {
        asked(&arguments.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[expect(clippy::unnecessary_wraps, reason = "compared with a Result")]
    fn names(kind: Kind, names: &[&str]) -> Result<Vec<Asked>, String> {
        Ok(names.iter().map(|name| Asked { kind, name: Some((*name).to_owned()) }).collect())
    }

    #[test]
    fn a_bare_name_is_a_pool_and_other_kinds_are_named_as_in_kubectl() {
        assert_eq!(explains("workers"), names(Kind::Pool, &["workers"]));
        for kind in ["foocp", "foocontrolplane", "FooControlPlane", "foocontrolplanes.controlplane.foo.com"] {
            assert_eq!(explains(&format!("{kind}/prod")), names(Kind::ControlPlane, &["prod"]));
            assert_eq!(explains(&format!("{kind} prod")), names(Kind::ControlPlane, &["prod"]));
        }
        assert_eq!(explains("foonc/linux"), names(Kind::NodeConfig, &["linux"]));
        assert_eq!(explains("foomp/w"), names(Kind::Pool, &["w"]));
        assert!(explains("pod/x").is_err() && explains("foocp/").is_err());
    }

    #[test]
    fn a_type_is_followed_by_names_of_its_objects_or_means_all_of_them() {
        assert_eq!(explains("foomachinepool linux windows"), names(Kind::Pool, &["linux", "windows"]));
        let all = explains("foonodeconfigs").unwrap();
        assert_eq!(of_kind(&all, Kind::NodeConfig), Some(Vec::new()));
        assert_eq!(of_kind(&all, Kind::Pool), None);
        assert!(explains("foomachinepool foocp/prod").is_err());
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

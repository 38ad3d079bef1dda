//! A statement of a policy, and the sentence that goes with it.

use foo_model::names::{TAG_ADOPTABLE, TAG_ADOPTED, TAG_CLUSTER};
use serde_json::{Map, Value, json};

/// What a statement does with what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
pub(super) enum Effect {
    Allow,
    Deny,
}

/// One statement of a policy and why it is there.
pub(super) struct Statement {
    pub(super) sid: &'static str,
    pub(super) effect: Effect,
    pub(super) actions: Vec<String>,
    pub(super) resources: Vec<&'static str>,
    pub(super) condition: Option<Value>,
    pub(super) why: &'static str,
}

impl Statement {
    pub(super) fn json(&self) -> Value {
        let mut statement = json!({
            "Sid": self.sid, "Effect": <&str>::from(self.effect), "Action": self.actions, "Resource": self.resources,
        });
        if let (Some(condition), Some(map)) = (&self.condition, statement.as_object_mut()) {
            map.insert("Condition".to_owned(), condition.clone());
        }
        statement
    }
}

/// The resource or request has this tag, whatever its value.
pub(super) fn has_tag(key: &str, tag: &str) -> Value {
    has_tags(key, &[tag])
}

/// The resource or request has all of these tags, whatever their values.
pub(super) fn has_tags(key: &str, tags: &[&str]) -> Value {
    let present: Map<String, Value> =
        tags.iter().map(|tag| (format!("{key}/{tag}"), json!("false"))).collect();
    json!({"Null": present})
}

/// The resource or request has the ownership tag.
pub(super) fn is_owned(key: &str) -> Value {
    has_tag(key, TAG_CLUSTER)
}

/// The request has the ownership tag, and not the tag of an adoption.
pub(super) fn creates() -> Value {
    json!({"Null": {
        format!("aws:RequestTag/{TAG_CLUSTER}"): "false",
        format!("aws:RequestTag/{TAG_ADOPTED}"): "true",
    }})
}

/// The request has the tags of an adoption, and the resource the tag with which the owner of the account allows it, and no owner.
pub(super) fn adopts() -> Value {
    json!({"Null": {
        format!("aws:RequestTag/{TAG_CLUSTER}"): "false",
        format!("aws:RequestTag/{TAG_ADOPTED}"): "false",
        format!("aws:ResourceTag/{TAG_ADOPTABLE}"): "false",
        format!("aws:ResourceTag/{TAG_CLUSTER}"): "true",
    }})
}

/// A statement that allows something.
pub(super) fn allow(
    sid: &'static str,
    actions: Vec<String>,
    resources: &[&'static str],
    condition: Option<Value>,
    why: &'static str,
) -> Statement {
    Statement { sid, effect: Effect::Allow, actions, resources: resources.to_vec(), condition, why }
}

/// The policies of the manager.
pub(super) struct Manager {
    pub(super) pools: Vec<Statement>,
    pub(super) networks: Vec<Statement>,
    pub(super) leftovers: Vec<Statement>,
    pub(super) control_planes: Vec<Statement>,
    pub(super) adoption: Vec<Statement>,
    pub(super) user_data: Vec<Statement>,
}

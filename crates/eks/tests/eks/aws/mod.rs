//! A small EKS and IAM for one cluster name: applies changes by AWS's rules. Reads may be older than the last change.

mod access;
mod addons;
mod calls;
mod time;

use foo_calls::Refusal;
use foo_model::eks::*;
use foo_model::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub type Answered = Result<Changed, Refusal>;

pub const ACCOUNT: &str = "123456789012";

/// What is true.
#[derive(Clone, Default)]
pub struct State {
    pub cluster: Option<Cluster>,
    pub updates: Vec<Update>,
    pub addons: BTreeMap<String, Addon>,
    pub entries: BTreeMap<String, Entry>,
    pub identities: BTreeMap<String, PodIdentity>,
    pub providers: BTreeMap<String, OidcProvider>,
    pub roles: BTreeMap<String, Role>,
    pub profiles: BTreeMap<String, String>,
}

/// An access entry with what EKS knows besides.
#[derive(Clone)]
pub struct Entry {
    pub shown: AccessEntry,
    pub policies: BTreeSet<AccessPolicy>,
    /// Unique id of the role that it lets in.
    pub lets_in: String,
}

#[derive(Clone)]
pub struct Aws {
    pub now: Timestamp,
    /// Milliseconds that its clock is ahead of the manager's.
    pub ahead: i64,
    pub state: State,
    /// What was true before each change, oldest first: reads that lag show it.
    history: Vec<(Timestamp, State)>,
    tokens: BTreeMap<String, (Change, Changed)>,
    /// What happens at a moment.
    due: Vec<(Timestamp, Due)>,
    next: u32,
    pub calls: Vec<(Timestamp, Change)>,
    /// The tokens of these calls.
    pub sent_tokens: Vec<Option<String>>,
    pub reads: Vec<(Timestamp, Question)>,
    /// How long reads show what was before a change.
    pub lag: Duration,
    /// How many creations of the cluster fail in EKS from now on.
    pub creations_that_fail: u32,
    /// How many updates fail in EKS from now on.
    pub updates_that_fail: u32,
    /// Add-ons whose creation fails, how often.
    pub addons_that_fail: BTreeMap<String, u32>,
    /// Roles exist for EKS from this moment on.
    pub roles_known_from: Timestamp,
    pub nodes: bool,
    /// The insights as of their latest refresh.
    pub insights: Vec<Insight>,
    /// What the next refresh finds, if something else.
    pub insights_next: Option<Vec<Insight>>,
    insights_refresh: Option<InsightsRefresh>,
    /// Operations that AWS denies.
    pub denied: BTreeSet<&'static str>,
    /// Operations that AWS refuses with these words.
    pub refused: BTreeMap<&'static str, Refusal>,
}

#[derive(Clone, Debug)]
pub enum Due {
    Created,
    UpdateShows,
    InsightsRefreshed,
    UpdateOver(String, Box<ClusterChange>),
    Deleted,
    Addon(String),
}

pub fn refusal(reason: Reason, code: &str, message: &str) -> Refusal {
    Refusal { reason, code: Some(code.to_owned()), message: message.to_owned() }
}

pub fn in_use(message: &str) -> Refusal {
    refusal(Reason::ResourceInUse, "ResourceInUseException", message)
}

pub fn invalid(message: &str) -> Refusal {
    refusal(Reason::RequestInvalid, "InvalidParameterException", message)
}

pub fn not_found(message: &str) -> Refusal {
    refusal(Reason::NotFound, "ResourceNotFoundException", message)
}

pub fn role_arn(name: &str) -> String {
    format!("arn:aws:iam::{ACCOUNT}:role/{name}")
}

/// Zone of a subnet: `subnet-a2` is in zone `eu-central-1a`.
pub fn zone(subnet: &SubnetId) -> String {
    format!("eu-central-1{}", &subnet.as_str()[7..8])
}

fn zones(subnets: &BTreeSet<SubnetId>) -> BTreeSet<String> {
    subnets.iter().map(zone).collect()
}

/// Zones without control planes.
const WITHOUT_CONTROL_PLANES: [&str; 1] = ["eu-central-1e"];

impl Aws {
    pub fn new() -> Self {
        let mut aws = Self {
            now: Timestamp(1_800_000_000_000),
            ahead: 0,
            state: State::default(),
            history: Vec::new(),
            tokens: BTreeMap::new(),
            due: Vec::new(),
            next: 0,
            calls: Vec::new(),
            sent_tokens: Vec::new(),
            reads: Vec::new(),
            lag: Duration::ZERO,
            creations_that_fail: 0,
            updates_that_fail: 0,
            addons_that_fail: BTreeMap::new(),
            roles_known_from: Timestamp(0),
            nodes: true,
            insights: Vec::new(),
            insights_next: None,
            insights_refresh: None,
            denied: BTreeSet::new(),
            refused: BTreeMap::new(),
        };
        for name in ["manager", "cluster", "nodes", "app", "people"] {
            aws.make_role(name);
        }
        aws.state.profiles.insert("nodes".to_owned(), "nodes".to_owned());
        aws
    }

    pub fn id(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}-{:04}", self.next)
    }

    /// What it dates with.
    pub fn dated(&self) -> AwsTime {
        AwsTime::from_millis(self.now.0 + self.ahead)
    }

    /// Creates a role, or creates it again.
    pub fn make_role(&mut self, name: &str) {
        let unique_id = self.id("AROA");
        let role =
            Role { arn: role_arn(name), unique_id, created: self.dated(), trusted_services: BTreeSet::new() };
        self.state.roles.insert(name.to_owned(), role);
    }

    /// Carries a call out.
    pub fn call(&mut self, change: &Change, token: Option<&str>) -> Answered {
        self.calls.push((self.now, change.clone()));
        self.sent_tokens.push(token.map(str::to_owned));
        if self.denied.contains(change.operation()) {
            return Err(refusal(Reason::AccessDenied, "AccessDeniedException", "not allowed"));
        }
        if let Some(refusal) = self.refused.get(change.operation()) {
            return Err(refusal.clone());
        }
        let before = self.state.clone();
        let answer = self.with_token(change, token);
        self.history.push((self.now, before));
        answer
    }

    /// Changes something without the planner.
    pub fn by_hand(&mut self, change: impl FnOnce(&mut State)) {
        let before = self.state.clone();
        change(&mut self.state);
        self.history.push((self.now, before));
    }

    fn with_token(&mut self, change: &Change, token: Option<&str>) -> Answered {
        let Some(token) = token else { return self.carry_out(change) };
        if let Some((earlier, changed)) = self.tokens.get(token) {
            return if earlier == change {
                Ok(changed.clone())
            } else {
                Err(invalid("The clientRequestToken was used before with other parameters."))
            };
        }
        let changed = self.carry_out(change)?;
        self.tokens.insert(token.to_owned(), (change.clone(), changed.clone()));
        Ok(changed)
    }

    pub fn look(&mut self, question: &Question) -> Answer {
        self.reads.push((self.now, question.clone()));
        let old =
            self.history.iter().find(|(at, _)| at.plus(self.lag) > self.now).map(|(_, state)| state.clone());
        let state = old.unwrap_or_else(|| self.state.clone());
        match question {
            Question::Cluster(_) => Answer::Cluster(state.cluster.map(Box::new)),
            Question::Updates(_) => Answer::Names(state.updates.iter().map(|it| it.id.clone()).collect()),
            Question::Update { id, .. } => {
                Answer::Update(state.updates.iter().find(|it| it.id == *id).cloned())
            }
            Question::Insights(_) => Answer::Insights(self.insights.clone()),
            Question::InsightsRefresh(_) => Answer::InsightsRefresh(self.insights_refresh.clone()),
            Question::Addons(_) => Answer::Names(state.addons.keys().cloned().collect()),
            Question::Addon { name, .. } => Answer::Addon(state.addons.get(name).cloned().map(Box::new)),
            Question::AccessEntries(_) => Answer::Names(state.entries.keys().cloned().collect()),
            Question::AccessEntry { principal, .. } => {
                Answer::AccessEntry(state.entries.get(principal).map(|it| it.shown.clone()))
            }
            Question::AccessPolicies { principal, .. } => Answer::AccessPolicies(
                state.entries.get(principal).map(|it| it.policies.clone()).unwrap_or_default(),
            ),
            Question::PodIdentities(_) => Answer::PodIdentities(
                state
                    .identities
                    .values()
                    .map(|it| PodIdentity { role_arn: None, tags: network::Tags::new(), ..it.clone() })
                    .collect(),
            ),
            Question::PodIdentity { id, .. } => {
                Answer::PodIdentities(state.identities.get(id).cloned().into_iter().collect())
            }
            Question::Versions => Answer::Versions(versions()),
            Question::AddonReleases { addon, kubernetes } => {
                Answer::AddonReleases(releases(addon, *kubernetes))
            }
            Question::AddonSchema { .. } => Answer::Schema(Some(
                "{\"properties\": {\"env\": {}}, \"additionalProperties\": false}".to_owned(),
            )),
            Question::Role(name) => Answer::Role(state.roles.get(name).cloned()),
            Question::InstanceProfile(name) => {
                Answer::InstanceProfile(state.profiles.get(name).map(|role| InstanceProfile {
                    arn: format!("arn:aws:iam::{ACCOUNT}:instance-profile/{name}"),
                    role: state.roles.get(role).cloned(),
                }))
            }
            Question::OidcProvider(arn) => Answer::OidcProvider(state.providers.get(arn).cloned()),
        }
    }
}

fn versions() -> Vec<VersionOffer> {
    let offer = |minor: u16| VersionOffer {
        version: Minor(minor),
        patch: None,
        default: minor == 35,
        support: if minor < 31 { Support::Unsupported } else { Support::StandardSupport },
        standard_ends: None,
        extended_ends: None,
    };
    (30..=36).map(offer).collect()
}

/// Two versions of each add-on for each version of Kubernetes; the older one is EKS's default.
pub fn releases(addon: &str, kubernetes: Minor) -> Vec<AddonRelease> {
    if addon == "nonsense" {
        return Vec::new();
    }
    let release = |patch: u16, default: bool| AddonRelease {
        version: format!("v1.{}.{patch}-eksbuild.1", kubernetes.0),
        default,
        requires_configuration: false,
        requires_iam: false,
    };
    vec![release(2, false), release(1, true)]
}

//! Rules of security groups by their own ids (`sgr-…`).

use super::describe::PAGING;
use super::parse::fields::{ids, only};
use super::render::groups::{Direction, rule_id, write_rule};
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::filters::Filters;
use crate::wire::operation::Caller;
use crate::wire::paging::Page;
use crate::wire::xml::Xml;
use foo_model::SecurityGroupId;
use foo_model::network::{Rule, SecurityGroup};
use std::collections::{BTreeMap, BTreeSet};

/// A rule with its id, its group and its direction.
type Numbered = (String, SecurityGroupId, Direction, Rule);

fn rules_of(group: &SecurityGroup) -> Vec<Numbered> {
    let of = |direction: Direction, rules: &BTreeSet<Rule>| -> Vec<Numbered> {
        let number =
            |rule: &Rule| (rule_id(&group.id, direction, rule), group.id.clone(), direction, rule.clone());
        rules.iter().map(number).collect()
    };
    [of(Direction::In, &group.ingress), of(Direction::Out, &group.egress)].concat()
}

/// The refusal of an unknown rule.
fn unknown(id: &str) -> AwsError {
    let text = format!("The security group rule ID '{id}' does not exist");
    AwsError::new("InvalidSecurityGroupRuleId.NotFound", text)
}

/// The rules that a call names by id, in the direction of the call.
pub(super) fn by_id(region: &Region, params: &Params) -> AwsResult<BTreeSet<Rule>> {
    let group = SecurityGroupId::from(params.required("GroupId")?);
    let wanted: BTreeSet<String> = ids(params, "SecurityGroupRuleId");
    let requested =
        if params.required("Action")?.ends_with("Egress") { Direction::Out } else { Direction::In };
    let all = rules_of(region.part::<SecurityGroup>(&group)?);
    let find = |id: &String| {
        let found = all.iter().find(|(known, _, direction, _)| known == id && *direction == requested);
        found.map(|(.., rule)| rule.clone()).ok_or_else(|| unknown(id))
    };
    wanted.iter().map(find).collect()
}

/// DescribeSecurityGroupRules.
pub(super) fn describe(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    only(params, &["SecurityGroupRuleId", "Filter", "MaxResults", "NextToken"])?;
    let page = Page::of(params, &PAGING)?;
    let filters = Filters::ec2(params)?.only(&["group-id", "security-group-rule-id"])?;
    let region: &Region = region;
    let mut all: Vec<Numbered> =
        region.parts_seen::<SecurityGroup>().flat_map(|group| rules_of(&group)).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    let wanted: BTreeSet<String> = ids(params, "SecurityGroupRuleId");
    if let Some(id) = wanted.iter().find(|id| all.iter().all(|(known, ..)| known != *id)) {
        return Err(unknown(id));
    }
    let no_tags = BTreeMap::new();
    let entries = all
        .into_iter()
        .filter(|(id, ..)| wanted.is_empty() || wanted.contains(id))
        .filter(|(id, group, ..)| {
            filters.match_with(&no_tags, |name| {
                vec![if name == "group-id" { group.as_str() } else { id.as_str() }]
            })
        })
        .filter(|(id, ..)| page.after.as_ref().is_none_or(|after| id > after));
    let (found, next) = page.take(entries, |(id, ..)| id.clone());
    xml.list("securityGroupRuleSet", "item", found, |xml, (_, group, direction, rule)| {
        write_rule(xml, &group, direction, &rule, region);
    });
    xml.optional("nextToken", next);
    Ok(())
}

//! What Describe calls see of networks: their state a read lag ago, without what is not visible yet of new parts.

use super::part::Part;
use super::state::Network;
use crate::core::error::AwsResult;
use crate::core::mishaps::ZoneState;
use crate::core::settings::{NewParts, Settings};
use foo_model::network::{
    Address, EgressOnlyGateway, Endpoint, Interface, InternetGateway, Kind, LoadBalancer, NatGateway, Parts,
    RouteTable, Scope, SecurityGroup, Subnet, Tags, TargetGroup, Vpc, ZoneInfo,
};
use foo_model::{Timestamp, Zone};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

/// The networks of a region, to be read, with what that needs of the region.
#[derive(Clone, Copy)]
pub(crate) struct NetworkReads<'a> {
    pub(in crate::core) network: &'a Network,
    pub(in crate::core) settings: &'a Settings,
    /// States of zones; one without an entry is available.
    pub(in crate::core) zone_states: &'a BTreeMap<Zone, ZoneState>,
    pub(in crate::core) now: Timestamp,
}

impl<'a> NetworkReads<'a> {
    /// Parts of one kind within a scope, as Describe calls see them. Only [`Kind::VpcAttributes`] shows attributes of
    /// VPCs.
    pub(crate) fn describe(self, kind: Kind, scope: &Scope) -> Parts {
        match kind {
            Kind::Vpc => self.described(scope, |vpc: &mut Vpc| {
                vpc.dns_support = None;
                vpc.dns_hostnames = None;
            }),
            Kind::VpcAttributes => self.described(scope, |_: &mut Vpc| {}),
            Kind::Subnet => self.described(scope, |_: &mut Subnet| {}),
            Kind::InternetGateway => self.described(scope, |_: &mut InternetGateway| {}),
            Kind::EgressOnlyGateway => self.described(scope, |_: &mut EgressOnlyGateway| {}),
            Kind::Address => self.described(scope, |_: &mut Address| {}),
            Kind::NatGateway => self.described(scope, |_: &mut NatGateway| {}),
            Kind::RouteTable => self.described(scope, |_: &mut RouteTable| {}),
            Kind::SecurityGroup => self.described(scope, |_: &mut SecurityGroup| {}),
            Kind::Endpoint => self.described(scope, |_: &mut Endpoint| {}),
            Kind::Interface => self.described(scope, |_: &mut Interface| {}),
            Kind::LoadBalancer => self.described(scope, |_: &mut LoadBalancer| {}),
            Kind::TargetGroup => self.described(scope, |_: &mut TargetGroup| {}),
            Kind::Zone => Parts {
                zones: self.zone_infos().map(|zone| (zone.name.clone(), zone)).collect(),
                ..Parts::default()
            },
        }
    }

    /// Everything in all networks of the region at this moment; no AWS call returns that.
    pub(crate) fn everything(self) -> Parts {
        let mut all = Parts::default();
        self.add_now::<Vpc>(&mut all);
        self.add_now::<Subnet>(&mut all);
        self.add_now::<InternetGateway>(&mut all);
        self.add_now::<EgressOnlyGateway>(&mut all);
        self.add_now::<Address>(&mut all);
        self.add_now::<NatGateway>(&mut all);
        self.add_now::<RouteTable>(&mut all);
        self.add_now::<SecurityGroup>(&mut all);
        self.add_now::<Endpoint>(&mut all);
        self.add_now::<Interface>(&mut all);
        self.add_now::<LoadBalancer>(&mut all);
        self.add_now::<TargetGroup>(&mut all);
        all.zones = self.zone_infos().map(|zone| (zone.name.clone(), zone)).collect();
        all
    }

    fn add_now<T: Part>(self, all: &mut Parts) {
        for part in self.network.all::<T>() {
            part.clone().add_to(all);
        }
    }

    fn described<T: Part>(self, scope: &Scope, strip: impl Fn(&mut T)) -> Parts {
        let mut response = Parts::default();
        let fits = |part: &Cow<'_, T>| match scope {
            Scope::TagKey(key) => part.tags().contains_key(key),
            Scope::Tag(key, value) => part.tags().get(key) == Some(value),
            Scope::Vpc(vpc) => T::KIND == Kind::Address || part.vpc() == Some(vpc),
            Scope::Ids(ids) => ids.contains(&part.id().to_string()),
        };
        for part in self.parts_seen::<T>().filter(fits) {
            let mut part = part.into_owned();
            strip(&mut part);
            part.add_to(&mut response);
        }
        response
    }

    /// The zones of the region.
    pub(crate) fn zone_infos(self) -> impl Iterator<Item = ZoneInfo> + 'a {
        self.network.zones.iter().map(move |(name, id)| ZoneInfo {
            name: name.clone(),
            id: id.clone(),
            available: self.zone_states.get(name).copied().unwrap_or_default() == ZoneState::Available,
            is_availability_zone: true,
        })
    }

    /// The parts of a kind that EC2 shows, by id.
    pub(crate) fn parts_seen<T: Part>(self) -> impl Iterator<Item = Cow<'a, T>> + 'a {
        let all = T::of(self.network).seen_after(None).map(|(_, part)| part);
        all.filter(move |part| self.knows_part::<T>(&part.id())).map(move |part| self.part_as_read(part))
    }

    /// A part, if EC2 shows it.
    pub(crate) fn part_seen<T: Part>(self, id: &T::Id) -> Option<Cow<'a, T>> {
        let found = T::of(self.network).seen(id).filter(|_| self.knows_part::<T>(id));
        found.map(|part| self.part_as_read(part))
    }

    /// Parts that a Describe call names; all of them must exist.
    ///
    /// # Errors
    /// EC2's codes for ids that are malformed or unknown.
    pub(crate) fn parts_by_id<T: Part>(self, ids: &[String]) -> AwsResult<Vec<Cow<'a, T>>> {
        let find =
            |id: &String| self.part_seen::<T>(&T::Id::from(id.clone())).ok_or_else(|| T::WORDS.refused(id));
        ids.iter().map(find).collect()
    }

    /// The tags of all parts that EC2 shows: kind of resource, id, tags.
    pub(crate) fn tags_seen(self) -> Vec<(&'static str, String, Tags)> {
        let mut all = Vec::new();
        self.add_tags::<Vpc>(&mut all);
        self.add_tags::<Subnet>(&mut all);
        self.add_tags::<InternetGateway>(&mut all);
        self.add_tags::<EgressOnlyGateway>(&mut all);
        self.add_tags::<Address>(&mut all);
        self.add_tags::<NatGateway>(&mut all);
        self.add_tags::<RouteTable>(&mut all);
        self.add_tags::<SecurityGroup>(&mut all);
        self.add_tags::<Endpoint>(&mut all);
        self.add_tags::<Interface>(&mut all);
        all
    }

    fn add_tags<T: Part>(self, all: &mut Vec<(&'static str, String, Tags)>) {
        let parts = self.parts_seen::<T>();
        all.extend(parts.map(|part| (T::WORDS.resource, part.id().to_string(), part.tags().clone())));
    }

    /// A part that a change names, as it is now.
    ///
    /// # Errors
    /// EC2's code for an id that it does not know, or not yet.
    pub(crate) fn part<T: Part>(self, id: &T::Id) -> AwsResult<&'a T> {
        let known = match self.settings.new_parts {
            NewParts::Unknown => self.network.get::<T>(id).filter(|_| self.knows_part::<T>(id)),
            NewParts::NotDescribed => self.network.get::<T>(id),
        };
        known.ok_or_else(|| T::WORDS.refused(&id.to_string()))
    }

    /// Whether something was created less than `than` ago.
    fn is_younger(self, made: Timestamp, than: Duration) -> bool {
        self.now < made.plus(than)
    }

    /// Whether EC2 knows the id already ([`Settings::parts_appear_after`](crate::core::Settings)).
    fn knows_part<T: Part>(self, id: &T::Id) -> bool {
        let Some(wait) = self.settings.parts_appear_after.get(&T::KIND) else { return true };
        self.network.made.get(&id.to_string()).is_none_or(|made| !self.is_younger(*made, *wait))
    }

    fn part_as_read<T: Part>(self, part: &'a T) -> Cow<'a, T> {
        let wait = self.settings.tags_appear_after;
        let made = self.network.made.get(&part.id().to_string());
        if part.tags().is_empty() || !made.is_some_and(|made| self.is_younger(*made, wait)) {
            return Cow::Borrowed(part);
        }
        let mut copy = part.clone();
        copy.tags_mut().clear();
        Cow::Owned(copy)
    }
}

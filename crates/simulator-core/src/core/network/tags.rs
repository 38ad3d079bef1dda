//! Tags of parts.

use super::part::Part;
use super::view::Networking;
use crate::core::error::{AwsError, AwsResult};
use crate::core::tags;
use foo_model::network::{
    Address, EgressOnlyGateway, Endpoint, Interface, InternetGateway, NatGateway, RouteTable, SecurityGroup,
    Subnet, Tags, Vpc,
};
use std::collections::BTreeMap;

impl<'a> Networking<'a> {
    /// CreateTags for parts.
    pub(super) fn create_tags(&mut self, parts: &[String], tags: &Tags) -> AwsResult<()> {
        tags::create(self, |net, id| net.again().into_tags_of(id), parts, tags)
    }

    /// DeleteTags for parts.
    pub(super) fn delete_tags(
        &mut self,
        parts: &[String],
        tags: &BTreeMap<String, Option<String>>,
    ) -> AwsResult<()> {
        tags::delete(self, |net, id| net.again().into_tags_of(id), parts, tags)
    }

    /// The tags of a part.
    ///
    /// # Errors
    /// EC2's codes for ids that it does not know.
    pub(crate) fn into_tags_of(self, id: &str) -> AwsResult<&'a mut Tags> {
        match id.split('-').next().unwrap_or_default() {
            "vpc" => self.into_tags::<Vpc>(id),
            "subnet" => self.into_tags::<Subnet>(id),
            "igw" => self.into_tags::<InternetGateway>(id),
            "eigw" => self.into_tags::<EgressOnlyGateway>(id),
            "eipalloc" => self.into_tags::<Address>(id),
            "nat" => self.into_tags::<NatGateway>(id),
            "rtb" => self.into_tags::<RouteTable>(id),
            "sg" => self.into_tags::<SecurityGroup>(id),
            "vpce" => self.into_tags::<Endpoint>(id),
            "eni" => self.into_tags::<Interface>(id),
            _ => Err(AwsError::new("InvalidID", format!("The ID '{id}' does not exist"))),
        }
    }

    fn into_tags<T: Part>(self, id: &str) -> AwsResult<&'a mut Tags> {
        let id = T::Id::from(id.to_owned());
        self.part::<T>(&id)?;
        self.network.get_mut::<T>(&id).map(Part::tags_mut).ok_or_else(|| T::WORDS.not_found(&id))
    }
}

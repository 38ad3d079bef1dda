//! Internet gateways, and egress-only ones for IPv6 (VPC User Guide, "Internet gateways").

use super::part::Part;
use super::pins;
use super::quotas::is_reached;
use super::view::Networking;
use crate::core::error::{AwsError, AwsResult};
use foo_model::network::{EgressOnlyGateway, InternetGateway, Parts, RouteTarget, Tags, Vpc};
use foo_model::{EgressOnlyGatewayId, InternetGatewayId, VpcId};

impl Networking<'_> {
    /// CreateInternetGateway.
    pub(super) fn create_internet_gateway(&mut self, tags: &Tags) -> AwsResult<Parts> {
        let quota = self.settings.network_quotas.internet_gateways;
        if is_reached(self.network.internet_gateways.len(), quota) {
            return Err(AwsError::new(
                "InternetGatewayLimitExceeded",
                "The maximum number of internet gateways has been reached.",
            ));
        }
        let gateway = InternetGateway { id: self.new_id("igw"), vpc: None, tags: tags.clone() };
        self.network.put_new(gateway.clone(), self.now);
        Ok(gateway.alone())
    }

    /// AttachInternetGateway. A gateway is attached to at most one VPC, and a VPC has at most one.
    pub(super) fn attach_internet_gateway(
        &mut self,
        id: &InternetGatewayId,
        vpc: &VpcId,
    ) -> AwsResult<Parts> {
        let gateway = self.part::<InternetGateway>(id)?;
        self.part::<Vpc>(vpc)?;
        if let Some(attached) = &gateway.vpc {
            return Err(AwsError::new(
                "Resource.AlreadyAssociated",
                format!("resource {id} is already attached to network {attached}"),
            ));
        }
        if self.network.of_vpc::<InternetGateway>(vpc).next().is_some() {
            return Err(AwsError::invalid_value(format!(
                "Network {vpc} already has an internet gateway attached"
            )));
        }
        if let Some(gateway) = self.network.internet_gateways.get_mut(id) {
            gateway.vpc = Some(vpc.clone());
        }
        self.network.revive_routes(&RouteTarget::InternetGateway(id.clone()), vpc);
        Ok(Parts::default())
    }

    /// DetachInternetGateway. Routes to it become blackholes.
    pub(super) fn detach_internet_gateway(
        &mut self,
        id: &InternetGatewayId,
        vpc: &VpcId,
    ) -> AwsResult<Parts> {
        let gateway = self.part::<InternetGateway>(id)?;
        self.part::<Vpc>(vpc)?;
        if gateway.vpc.as_ref() != Some(vpc) {
            return Err(AwsError::new(
                "Gateway.NotAttached",
                format!("resource {id} is not attached to network {vpc}"),
            ));
        }
        if pins::has_public_addresses(self.network, vpc) {
            return Err(AwsError::new(
                "DependencyViolation",
                format!(
                    "Network {vpc} has some mapped public address(es). Please unmap those public address(es) before \
                     detaching the gateway."
                ),
            ));
        }
        self.detach_from_vpc(id);
        Ok(Parts::default())
    }

    pub(super) fn detach_from_vpc(&mut self, id: &InternetGatewayId) {
        if let Some(gateway) = self.network.internet_gateways.get_mut(id) {
            gateway.vpc = None;
        }
        self.network.break_routes(&RouteTarget::InternetGateway(id.clone()));
    }

    /// DeleteInternetGateway.
    pub(super) fn delete_internet_gateway(&mut self, id: &InternetGatewayId) -> AwsResult<Parts> {
        if self.part::<InternetGateway>(id)?.vpc.is_some() {
            return Err(pins::has_dependencies("internetGateway", id));
        }
        self.network.remove::<InternetGateway>(id);
        Ok(Parts::default())
    }

    /// CreateEgressOnlyInternetGateway. A VPC has at most one (VPC User Guide, "Amazon VPC quotas"); the code of the refusal is
    /// an assumption.
    pub(super) fn create_egress_only_gateway(&mut self, vpc: &VpcId, tags: &Tags) -> AwsResult<Parts> {
        self.part::<Vpc>(vpc)?;
        if self.network.of_vpc::<EgressOnlyGateway>(vpc).next().is_some() {
            return Err(AwsError::invalid_value(format!(
                "Network {vpc} already has an egress only internet gateway attached"
            )));
        }
        let gateway = EgressOnlyGateway { id: self.new_id("eigw"), vpc: vpc.clone(), tags: tags.clone() };
        self.network.put_new(gateway.clone(), self.now);
        Ok(gateway.alone())
    }

    /// DeleteEgressOnlyInternetGateway. Routes to it become blackholes (VPC User Guide, "Delete an egress-only
    /// internet gateway").
    pub(super) fn delete_egress_only_gateway(&mut self, id: &EgressOnlyGatewayId) -> AwsResult<Parts> {
        self.part::<EgressOnlyGateway>(id)?;
        self.network.remove::<EgressOnlyGateway>(id);
        self.network.break_routes(&RouteTarget::EgressOnlyGateway(id.clone()));
        Ok(Parts::default())
    }
}

//! Route tables and their associations with subnets (VPC User Guide, "Configure route tables").

use super::given::local_routes;
use super::part::Part;
use super::pins;
use super::quotas::is_reached;
use super::view::Networking;
use crate::core::error::{AwsError, AwsResult};
use foo_model::network::{Endpoint, EndpointKind, Parts, RouteTable, Subnet, TableAssociation, Tags, Vpc};
use foo_model::{AssociationId, EndpointId, RouteTableId, SubnetId, VpcId};

fn unknown_association(id: &AssociationId) -> AwsError {
    AwsError::new("InvalidAssociationID.NotFound", format!("The association ID '{id}' does not exist"))
}

/// A response that contains only an association.
fn associated(table: &RouteTable, association: TableAssociation) -> Parts {
    let associations = vec![association];
    RouteTable { associations, routes: Vec::new(), tags: Tags::new(), ..table.clone() }.alone()
}

impl Networking<'_> {
    /// CreateRouteTable. It has a local route for every range of the VPC.
    pub(super) fn create_route_table(&mut self, vpc: &VpcId, tags: &Tags) -> AwsResult<Parts> {
        let routes = local_routes(self.part::<Vpc>(vpc)?);
        let quota = self.settings.network_quotas.route_tables;
        if is_reached(self.network.of_vpc::<RouteTable>(vpc).count(), quota) {
            return Err(AwsError::new(
                "RouteTableLimitExceeded",
                "The maximum number of route tables has been reached.",
            ));
        }
        let table = RouteTable {
            id: self.new_id("rtb"),
            vpc: vpc.clone(),
            main: false,
            routes,
            associations: Vec::new(),
            tags: tags.clone(),
        };
        self.network.put_new(table.clone(), self.now);
        Ok(table.alone())
    }

    /// AssociateRouteTable. A subnet has at most one explicit association.
    pub(super) fn associate_route_table(&mut self, id: &RouteTableId, subnet: &SubnetId) -> AwsResult<Parts> {
        let table = self.part::<RouteTable>(id)?.clone();
        if self.part::<Subnet>(subnet)?.vpc != table.vpc {
            return Err(AwsError::invalid_value(format!(
                "Route table {id} and subnet {subnet} belong to different networks"
            )));
        }
        let has = |other: &RouteTable| other.associations.iter().any(|it| &it.subnet == subnet);
        if self.network.all::<RouteTable>().any(has) {
            return Err(AwsError::new(
                "Resource.AlreadyAssociated",
                format!(
                    "the specified association for route table {id} conflicts with an existing association"
                ),
            ));
        }
        let association = TableAssociation { id: self.new_id("rtbassoc"), subnet: subnet.clone() };
        if let Some(table) = self.network.route_tables.get_mut(id) {
            table.associations.push(association.clone());
        }
        Ok(associated(&table, association))
    }

    /// ReplaceRouteTableAssociation: the subnet, or the VPC for its main table, gets another table, with a new
    /// association.
    pub(super) fn replace_table_association(
        &mut self,
        id: &AssociationId,
        table: &RouteTableId,
    ) -> AwsResult<Parts> {
        let table = self.part::<RouteTable>(table)?.clone();
        if let Some(vpc) = self.main_association(id) {
            return self.replace_main_table(&vpc, &table);
        }
        let (former, association) = self.association(id)?;
        if former.vpc != table.vpc {
            return Err(AwsError::invalid_value(format!(
                "Route table {} and subnet {} belong to different networks",
                table.id, association.subnet
            )));
        }
        let new = TableAssociation { id: self.new_id("rtbassoc"), subnet: association.subnet };
        if let Some(former) = self.network.route_tables.get_mut(&former.id) {
            former.associations.retain(|it| &it.id != id);
        }
        if let Some(table) = self.network.route_tables.get_mut(&table.id) {
            table.associations.push(new.clone());
        }
        Ok(associated(&table, new))
    }

    fn replace_main_table(&mut self, vpc: &VpcId, table: &RouteTable) -> AwsResult<Parts> {
        if &table.vpc != vpc {
            return Err(AwsError::invalid_value(format!(
                "Route table {} and network {vpc} belong to different networks",
                table.id
            )));
        }
        let all: Vec<RouteTableId> =
            self.network.of_vpc::<RouteTable>(vpc).map(|table| table.id.clone()).collect();
        for id in all {
            if let Some(one) = self.network.route_tables.get_mut(&id) {
                one.main = id == table.id;
            }
        }
        let association = self.new_id("rtbassoc");
        self.network.main_associations.insert(vpc.clone(), association);
        let (associations, routes) = (Vec::new(), Vec::new());
        Ok(RouteTable { main: true, associations, routes, tags: Tags::new(), ..table.clone() }.alone())
    }

    /// The VPC whose main route table this association sets.
    fn main_association(&self, id: &AssociationId) -> Option<VpcId> {
        let found = self.network.main_associations.iter().find(|(_, association)| *association == id);
        found.map(|(vpc, _)| vpc.clone())
    }

    fn association(&self, id: &AssociationId) -> AwsResult<(RouteTable, TableAssociation)> {
        let of = |table: &RouteTable| {
            let found = table.associations.iter().find(|it| &it.id == id)?.clone();
            Some((table.clone(), found))
        };
        self.network.all::<RouteTable>().find_map(of).ok_or_else(|| unknown_association(id))
    }

    /// DisassociateRouteTable. The subnet then uses the main table.
    pub(super) fn disassociate_route_table(&mut self, id: &AssociationId) -> AwsResult<Parts> {
        if self.main_association(id).is_some() {
            return Err(AwsError::invalid_value(format!(
                "cannot disassociate the main route table association {id}"
            )));
        }
        let (table, _) = self.association(id)?;
        if let Some(table) = self.network.route_tables.get_mut(&table.id) {
            table.associations.retain(|it| &it.id != id);
        }
        Ok(Parts::default())
    }

    /// DeleteRouteTable. It is removed from gateway endpoints.
    pub(super) fn delete_route_table(&mut self, id: &RouteTableId) -> AwsResult<Parts> {
        let table = self.part::<RouteTable>(id)?;
        if table.main || !table.associations.is_empty() {
            return Err(pins::has_dependencies("routeTable", id));
        }
        let with = |endpoint: &&Endpoint| match &endpoint.kind {
            EndpointKind::Gateway { tables } => tables.contains(id),
            EndpointKind::Interface { .. } | EndpointKind::Other(_) => false,
        };
        let endpoints: Vec<EndpointId> =
            self.network.all::<Endpoint>().filter(with).map(|it| it.id.clone()).collect();
        for endpoint in endpoints {
            if let Some(Endpoint { kind: EndpointKind::Gateway { tables }, .. }) =
                self.network.endpoints.get_mut(&endpoint)
            {
                tables.remove(id);
            }
        }
        self.network.remove::<RouteTable>(id);
        Ok(Parts::default())
    }
}

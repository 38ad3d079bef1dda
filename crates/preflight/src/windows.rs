//! Maintenance windows: their time zones exist. Nothing in the API server knows which do.

use crate::report::Report;
use crate::topology::Topology;
use foo_api::maintenance::unusable;

/// What is wrong with the windows of a topology's control plane and pools.
pub(crate) fn read(topology: &Topology, report: &mut Report) {
    if let Some(why) = topology.eks.as_ref().and_then(|eks| unusable(&eks.windows)) {
        report.finds(format!("the control plane: spec.eks.maintenanceWindows: {why}"));
    }
    for pool in &topology.pools {
        if let Some(why) = unusable(&pool.windows) {
            report.finds(format!("pool {}: spec.maintenanceWindows: {why}", pool.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Eks, Pool};
    use foo_api::maintenance::MaintenanceWindow;
    use serde_json::json;

    #[test]
    fn an_unknown_time_zone_is_found() {
        let windows = |zone: &str| -> Vec<MaintenanceWindow> {
            let window = json!({"start": "02:00", "durationSeconds": 3_600, "timeZone": zone});
            serde_json::from_value(json!([window])).unwrap()
        };
        let pool = |name: &str, zone: &str| Pool {
            name: name.to_owned(),
            windows: windows(zone),
            ..Pool::default()
        };
        let found = |topology: &Topology| {
            let mut report = Report::default();
            read(topology, &mut report);
            report.findings().map(str::to_owned).collect::<Vec<String>>()
        };
        let pools = vec![pool("a", "Europe/Berlin"), pool("b", "Mars/Base")];
        let topology = Topology { pools, ..Topology::default() };
        let message =
            "pool b: spec.maintenanceWindows: the IANA time zone database has no time zone \"Mars/Base\"";
        assert_eq!(found(&topology), [message]);
        let of_eks = |zone: &str| Topology {
            eks: Some(Eks { windows: windows(zone), ..Eks::default() }),
            ..Topology::default()
        };
        assert_eq!(found(&of_eks("Europe/Berlin")), Vec::<String>::new());
        let message = "the control plane: spec.eks.maintenanceWindows: the IANA time zone database has no time zone \"Mars/Base\"";
        assert_eq!(found(&of_eks("Mars/Base")), [message]);
    }

    #[test]
    fn the_windows_of_a_pool_are_those_of_its_spec() {
        let window = json!({"start": "02:00", "durationSeconds": 3_600});
        let spec =
            json!({"ami": {"id": "ami-1"}, "instanceType": "t3.large", "maintenanceWindows": [window]});
        let pool = Pool::of_spec("a".to_owned(), 1, serde_json::from_value(spec).unwrap());
        assert_eq!(pool.windows.len(), 1);
    }
}

//! Maintenance windows: their time zones exist. Nothing in the API server knows which do.

use crate::report::Report;
use crate::topology::Topology;
use foo_api::pool::life::unusable;

/// What is wrong with the windows of a topology's pools.
pub(crate) fn read(topology: &Topology, report: &mut Report) {
    for pool in &topology.pools {
        if let Some(why) = unusable(&pool.windows) {
            report.finds(format!("pool {}: {why}", pool.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Pool;
    use serde_json::json;

    #[test]
    fn an_unknown_time_zone_is_found() {
        let pool = |name: &str, zone: &str| {
            let window = json!({"start": "02:00", "durationSeconds": 3_600, "timeZone": zone});
            let spec =
                json!({"ami": {"id": "ami-1"}, "instanceType": "t3.large", "maintenanceWindows": [window]});
            Pool::of_spec(name.to_owned(), 1, serde_json::from_value(spec).unwrap())
        };
        let topology = Topology {
            pools: vec![pool("a", "Europe/Berlin"), pool("b", "Mars/Base")],
            ..Topology::default()
        };
        let mut report = Report::default();
        read(&topology, &mut report);
        let found: Vec<&str> = report.findings().collect();
        let said =
            "pool b: spec.maintenanceWindows: the IANA time zone database has no time zone \"Mars/Base\"";
        assert_eq!(found, [said]);
    }
}

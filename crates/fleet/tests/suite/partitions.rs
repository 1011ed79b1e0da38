// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A cluster whose members are in network namespaces, and cables that are cut. Packets are dropped without a reply,
//! as by a broken network; a refused connection would be noticed at once.

use std::time::Duration;

use tenterhook_fleet_cluster::{
    Cluster, ClusterMachine, ClusterNetwork, ClusterOptions, MachineEvidence, check_evidence,
};
use tenterhook_test_support::skip_test;

use crate::cluster_faults::cluster_programs;

/// The members; the first four have the addresses of the engines.
const MEMBERS: [&str; 7] = ["n1", "n2", "n3", "db", "s1", "s2", "m1"];
/// Number of the database among the members.
const DATABASE: usize = 3;
/// How long everything has to arrive. It includes the time after which a silent connection is given up.
const ARRIVAL_LIMIT: Duration = Duration::from_mins(3);
/// How long a partition lasts in which nothing may arrive.
const PARTITION_TIME: Duration = Duration::from_secs(8);

struct PartitionedFleet {
    cluster: Cluster,
}

impl PartitionedFleet {
    fn start() -> Option<Self> {
        let programs = cluster_programs()?;
        if !ClusterNetwork::is_available() {
            skip_test("network namespaces need root, `ip` and `nft`: apt-get install iproute2 nftables");
            return None;
        }
        let network = ClusterNetwork::create(&MEMBERS).unwrap();
        let options = ClusterOptions { network: Some(network), ..ClusterOptions::new(programs, 1) };
        Some(Self { cluster: Cluster::start(options, &mut |text| eprintln!("{text}")).unwrap() })
    }

    fn machine(&self) -> &ClusterMachine {
        &self.cluster.machines[0]
    }

    /// Records calls, each of which has to be answered.
    fn record(&self, calls: usize) {
        let mut connection = self.machine().connect().unwrap();
        for number in 0..calls {
            connection.call(&format!("echo {number}")).unwrap();
        }
    }

    fn cut(&self, member: &str, others: &[usize]) {
        for other in others {
            self.cluster.network.as_ref().unwrap().cut(member, ClusterNetwork::address(*other)).unwrap();
        }
    }

    fn heal(&self, member: &str) {
        self.cluster.network.as_ref().unwrap().heal(member).unwrap();
    }

    fn wait_for_evidence(&self, what: &str) -> MachineEvidence {
        let found = check_evidence(&self.cluster, self.machine(), ARRIVAL_LIMIT);
        let found = found.unwrap_or_else(|error| panic!("{what}: {error}\n{}", self.cluster.logs()));
        eprintln!("{what}: {} records", found.size);
        found
    }

    fn stored(&self) -> Option<String> {
        self.cluster.query("select cursor from machines").unwrap()[0][0].clone()
    }
}

#[test]
#[ignore = "takes minutes; `make fleet-test` runs it"]
fn partitions_heal() {
    let Some(fleet) = PartitionedFleet::start() else { return };
    fleet.record(40);
    let first = fleet.wait_for_evidence("without a partition");

    // The machine reaches no NATS server. Hook calls go on, and everything arrives afterwards.
    fleet.cut("m1", &[0, 1, 2]);
    fleet.record(300);
    std::thread::sleep(PARTITION_TIME);
    assert_eq!(fleet.stored(), Some(first.size.to_string()), "the cable is cut");
    fleet.heal("m1");
    let second = fleet.wait_for_evidence("machine from NATS");
    assert!(second.size >= first.size + 300);

    // One NATS server is alone. The two others go on, and records arrive before the partition ends.
    fleet.cut("n1", &[1, 2]);
    fleet.record(300);
    let third = fleet.wait_for_evidence("one NATS server from the others");
    fleet.heal("n1");
    assert!(third.size >= second.size + 300);

    // No fleet server reaches PostgreSQL. Batches wait in NATS.
    fleet.cut("s1", &[DATABASE]);
    fleet.cut("s2", &[DATABASE]);
    fleet.record(300);
    std::thread::sleep(PARTITION_TIME);
    assert_eq!(fleet.stored(), Some(third.size.to_string()), "the cable is cut");
    fleet.heal("s1");
    fleet.heal("s2");
    let fourth = fleet.wait_for_evidence("fleet servers from PostgreSQL");
    assert!(fourth.size >= third.size + 300);

    // Each fleet server alone loses PostgreSQL, and the other one takes over its partitions during the partition.
    for server in ["s1", "s2"] {
        fleet.cut(server, &[DATABASE]);
        fleet.record(300);
        fleet.wait_for_evidence(&format!("{server} from PostgreSQL"));
        fleet.heal(server);
    }
}

//! The features. A new field of FooMachinePool is named by a row, an old or a new one: a test asks for it.

use super::row::Other::{self, ByLaunchTemplate, DoesNotApply, NotCompared};
use super::row::Provider::{No, Part, Yes};
use super::row::Row;

const YES: Other = Other::Yes("");
const PART: Other = Other::Part("");
const NO: Other = Other::No("");

/// The tables of the page, each with its title.
pub(super) const SECTIONS: [(&str, &[Row]); 7] = [
    ("Instances and capacity", INSTANCES),
    ("Launch template", TEMPLATE),
    ("Volumes", VOLUMES),
    ("Network", NETWORK),
    ("Replacement of instances", REPLACEMENT),
    ("Number of instances", SIZE),
    ("Nodes and clusters", NODES),
];

const INSTANCES: &[Row] = &[
    Row::new(
        "Instance type, or several types; on-demand base and percentage; spot allocation strategy",
        Yes(&[
            ("FooMachinePool", "spec.instanceType"),
            ("FooMachinePool", "spec.mixedInstances.overrides"),
            ("FooMachinePool", "spec.mixedInstances.onDemandBase"),
            ("FooMachinePool", "spec.mixedInstances.onDemandPercentage"),
            ("FooMachinePool", "spec.mixedInstances.spotStrategy"),
        ]),
        [YES, Other::Part("flexible"), PART],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::a_group_is_created_with_one_call_and_its_mix_removed_with_another",
            "crates/controller/tests/suite/templates.rs::with_another_type_the_instances_are_outdated_and_back_again",
        ],
    ),
    Row::new(
        "Spot instances only; maximum spot price",
        Yes(&[("FooMachinePool", "spec.spot"), ("FooMachinePool", "spec.mixedInstances.spotMaxPrice")]),
        [NotCompared, NotCompared, NotCompared],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::a_launch_template_is_complete",
            "crates/controller/tests/suite/upkeep.rs::a_spot_foo_machine_is_reported_as_interruptible",
        ],
    ),
    Row::new(
        "On-demand allocation strategy",
        Yes(&[("FooMachinePool", "spec.mixedInstances.onDemandStrategy")]),
        [YES, Other::No("lowest price"), Other::No("fixed")],
        &[
            "crates/cloud-adapter/tests/wire/simulator.rs::a_group_can_be_changed_in_every_way_we_change_it",
            "crates/controller/src/pool/inputs/mix.rs::the_strategy_for_on_demand_instances_follows_from_what_there_is_to_choose_from",
        ],
    ),
    Row::new(
        "Weights of instance types",
        No("each replica is one instance, whatever its type"),
        [NO, DoesNotApply, NO],
        &[],
    ),
    Row::new(
        "Attribute-based instance requirements, with price protection",
        Part(
            &[("FooMachinePool", "spec.mixedInstances.overrides[].requirements")],
            "without support of hibernation and baseline performance factors; no weights of such types",
        ),
        [NO, Other::Yes("core of its API"), ByLaunchTemplate],
        &[
            "crates/controller/src/pool/inputs/mix.rs::every_attribute_reaches_aws",
            "crates/controller/tests/suite/templates.rs::aws_launches_types_with_the_attributes_and_others_when_they_change",
            "tests/e2e/tests/autoscaler/from_zero.rs::capacity_is_known_before_any_instance_exists",
        ],
    ),
    Row::new(
        "x86 and Arm in one pool, each with its image",
        Yes(&[("FooMachinePool", "spec.ami.ids"), ("FooMachinePool", "spec.ami.ssmParameter")]),
        [NO, YES, NO],
        &[
            "crates/controller/tests/suite/images.rs::types_of_both_architectures_boot_an_image_each_and_the_newest_one_is_rolled_out",
            "crates/controller/tests/suite/images.rs::sets_of_attributes_of_both_architectures_boot_an_image_each",
            "crates/controller/tests/suite/rollouts.rs::a_bad_image_of_arm64_types_is_rolled_back_as_well",
            "crates/planner/tests/races/rollouts.rs::a_rollback_to_content_without_an_image_of_arm64_types_launches_none_of_these",
        ],
    ),
    Row::new(
        "Capacity Reservations",
        Yes(&[("FooMachinePool", "spec.capacityReservation")]),
        [Other::Yes("newer releases"), YES, YES],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::each_kind_of_special_capacity_has_its_own_fields",
            "crates/controller/src/pool/inputs/content/tests.rs::special_capacity_replaces_instances_and_the_order_of_licenses_does_not",
        ],
    ),
    Row::new(
        "Capacity Blocks",
        Yes(&[("FooMachinePool", "spec.capacityReservation.block")]),
        [Other::Yes("newer releases"), YES, YES],
        &[
            "crates/controller/tests/suite/capacity_blocks.rs::a_pool_waits_for_its_block_is_drained_before_its_end_and_comes_back_when_it_is_extended",
            "crates/planner/tests/steps/capacity_blocks.rs::an_hour_before_a_block_ends_all_machines_are_drained_at_once_and_none_is_launched",
            "crates/simulator-core/src/tests/capacity.rs::a_capacity_block_has_instances_from_its_start_until_half_an_hour_before_its_end",
        ],
    ),
    Row::new(
        "Placement groups, partition, tenancy, dedicated hosts, host resource groups",
        Part(
            &[("FooMachinePool", "spec.placement"), ("FooMachinePool", "spec.tenancy")],
            "dedicated hosts by their host resource group only, as EC2 Auto Scaling takes them",
        ),
        [Other::No("AWSMachine has them"), PART, ByLaunchTemplate],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::each_kind_of_special_capacity_has_its_own_fields",
            "crates/cloud-adapter/tests/wire/shapes.rs::options_of_instances_are_sent_in_ec2s_words_and_a_public_address_needs_an_interface",
            "crates/simulator-core/src/tests/capacity.rs::placement_groups_limit_where_and_how_many_instances_are",
        ],
    ),
    Row::new(
        "Warm pools",
        Part(&[("FooMachinePool", "spec.warmPool")], "no hibernation, and no reuse on scale-in"),
        [NO, NO, Other::Yes("new")],
        &[
            "crates/controller/tests/suite/warm_pools.rs::a_scale_out_takes_an_instance_that_waits_and_it_becomes_one_machine",
            "crates/controller/tests/suite/warm_pools.rs::an_edit_renews_the_warm_pool_before_the_group_takes_an_instance_from_it",
            "crates/planner/tests/steps/warm_pools.rs::without_user_data_that_wait_there_is_no_warm_pool_and_the_condition_says_so",
        ],
    ),
];

const TEMPLATE: &[Row] = &[
    Row::new(
        "Image by id, SSM parameter, lookup or recommendation; pinned or followed",
        Yes(&[("FooMachinePool", "spec.ami")]),
        [PART, YES, YES],
        &[
            "crates/controller/tests/suite/images.rs::a_recommended_image_is_found_and_recorded",
            "crates/controller/tests/suite/images.rs::the_newest_image_of_an_owner_fits_the_instance_types",
            "crates/controller/tests/suite/images.rs::the_latest_image_is_rolled_out_like_any_other",
        ],
    ),
    Row::new(
        "Instance metadata service: tokens, hop limit",
        Yes(&[
            ("FooMachinePool", "spec.metadataOptions.httpTokens"),
            ("FooMachinePool", "spec.metadataOptions.httpPutResponseHopLimit"),
        ]),
        [YES, YES, ByLaunchTemplate],
        &["crates/cloud-adapter/tests/wire/shapes.rs::a_launch_template_is_complete"],
    ),
    Row::new(
        "Instance metadata service: switched off, IPv6 address",
        Yes(&[
            ("FooMachinePool", "spec.metadataOptions.httpEndpoint"),
            ("FooMachinePool", "spec.metadataOptions.httpProtocolIPv6"),
        ]),
        [NotCompared, NotCompared, NotCompared],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::options_of_instances_are_sent_in_ec2s_words_and_a_public_address_needs_an_interface",
        ],
    ),
    Row::new(
        "Instance metadata service: tags of the instance",
        No("keys of the provider's tags contain `/`, with which EC2 would launch no instance"),
        [NotCompared, NotCompared, NotCompared],
        &[
            "crates/cloud-adapter/src/templates/shapes.rs::tags_are_never_shown_in_the_metadata_whatever_the_account_defaults_to",
        ],
    ),
    Row::new(
        "Detailed monitoring",
        Yes(&[("FooMachinePool", "spec.detailedMonitoring")]),
        [NO, YES, ByLaunchTemplate],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::options_of_instances_are_sent_in_ec2s_words_and_a_public_address_needs_an_interface",
        ],
    ),
    Row::new(
        "CPU options",
        Yes(&[("FooMachinePool", "spec.cpuOptions")]),
        [NO, NO, ByLaunchTemplate],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::options_of_instances_are_sent_in_ec2s_words_and_a_public_address_needs_an_interface",
        ],
    ),
    Row::new(
        "CPU credits",
        Yes(&[("FooMachinePool", "spec.cpuCredits")]),
        [NO, NO, ByLaunchTemplate],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::options_of_instances_are_sent_in_ec2s_words_and_a_public_address_needs_an_interface",
        ],
    ),
    Row::new(
        "Bandwidth weighting between network and EBS",
        Yes(&[("FooMachinePool", "spec.bandwidthWeighting")]),
        [NO, NO, ByLaunchTemplate],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::options_of_instances_are_sent_in_ec2s_words_and_a_public_address_needs_an_interface",
            "crates/controller/tests/suite/templates.rs::a_pool_with_a_bandwidth_weighting_needs_a_type_that_offers_it",
        ],
    ),
    Row::new(
        "Nitro Enclaves",
        Yes(&[("FooMachinePool", "spec.nitroEnclaves")]),
        [NO, NO, ByLaunchTemplate],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::options_of_instances_are_sent_in_ec2s_words_and_a_public_address_needs_an_interface",
        ],
    ),
    Row::new(
        "License configurations",
        Yes(&[("FooMachinePool", "spec.licenseConfigurations")]),
        [NO, NO, ByLaunchTemplate],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::options_of_instances_are_sent_in_ec2s_words_and_a_public_address_needs_an_interface",
        ],
    ),
    Row::new(
        "EBS optimization, kernel and RAM disk, shutdown behavior, automatic recovery, stop and termination protection",
        Yes(&[
            ("FooMachinePool", "spec.launchTemplateOverlay.EbsOptimized"),
            ("FooMachinePool", "spec.launchTemplateOverlay.KernelId"),
            ("FooMachinePool", "spec.launchTemplateOverlay.RamDiskId"),
            ("FooMachinePool", "spec.launchTemplateOverlay.InstanceInitiatedShutdownBehavior"),
            ("FooMachinePool", "spec.launchTemplateOverlay.MaintenanceOptions"),
            ("FooMachinePool", "spec.launchTemplateOverlay.DisableApiStop"),
            ("FooMachinePool", "spec.launchTemplateOverlay.DisableApiTermination"),
        ]),
        [NotCompared, NotCompared, ByLaunchTemplate],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::the_overlay_is_sent_in_ec2s_words_and_devices_beside_the_volumes",
            "tests/e2e/tests/admission/rules.rs::the_overlay_has_only_what_ec2_auto_scaling_can_launch_with",
        ],
    ),
    Row::new(
        "Nested virtualization",
        Yes(&[("FooMachinePool", "spec.launchTemplateOverlay.CpuOptions")]),
        [NotCompared, NotCompared, ByLaunchTemplate],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::the_overlay_is_sent_in_ec2s_words_and_devices_beside_the_volumes",
        ],
    ),
    Row::new(
        "Hibernation",
        No("the provider terminates instances and never stops them"),
        [NO, NO, ByLaunchTemplate],
        &[],
    ),
    Row::new(
        "Private DNS names",
        Yes(&[("FooMachinePool", "spec.privateDNSNameOptions")]),
        [YES, Other::Part("automatic"), ByLaunchTemplate],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::options_of_instances_are_sent_in_ec2s_words_and_a_public_address_needs_an_interface",
        ],
    ),
    Row::new(
        "SSH key",
        Yes(&[("FooMachinePool", "spec.sshKeyName")]),
        [YES, NO, YES],
        &["crates/cloud-adapter/tests/wire/shapes.rs::a_launch_template_is_complete"],
    ),
    Row::new(
        "Instance profile",
        Yes(&[("FooMachinePool", "spec.iamInstanceProfile")]),
        [NotCompared, NotCompared, NotCompared],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::a_launch_template_is_complete",
            "crates/controller/tests/suite/tenants.rs::an_instance_profile_that_the_identity_does_not_allow_is_never_given_to_an_instance",
        ],
    ),
    Row::new(
        "Tags of group, instances and volumes",
        Yes(&[("FooMachinePool", "spec.tags")]),
        [YES, YES, YES],
        &[
            "crates/controller/tests/suite/rollouts.rs::tags_roll_nothing",
            "crates/planner/tests/steps/group.rs::missing_and_different_tags_are_repaired_and_other_tags_stay",
        ],
    ),
    Row::new(
        "Tags of network interfaces",
        Yes(&[("FooMachinePool", "spec.launchTemplateOverlay.TagSpecifications")]),
        [NotCompared, NotCompared, NotCompared],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::network_interfaces_have_tags_of_their_own",
            "crates/cloud-adapter/tests/wire/shapes.rs::a_copied_version_keeps_the_tags_of_network_interfaces",
            "crates/controller/src/pool/inputs/content/tests.rs::tags_of_network_interfaces_make_a_new_version_of_their_own_and_roll_nothing",
            "crates/controller/src/pool/inputs/content/tests.rs::with_additional_interfaces_all_have_the_tags_of_the_pool_and_of_the_overlay_and_are_not_for_pods",
        ],
    ),
    Row::new(
        "Names of group and launch template",
        Yes(&[("FooMachinePool", "spec.groupName"), ("FooMachinePool", "spec.launchTemplateName")]),
        [NotCompared, NotCompared, NotCompared],
        &[
            "crates/controller/src/pool/names.rs::the_users_name_wins",
            "crates/planner/tests/steps/adopt.rs::a_template_with_a_name_of_its_own_belongs_to_the_group_that_its_tag_names",
        ],
    ),
];

const VOLUMES: &[Row] = &[
    Row::new(
        "Root volume and data volumes: type, IOPS, throughput, KMS key",
        Yes(&[
            ("FooMachinePool", "spec.rootVolume.type"),
            ("FooMachinePool", "spec.rootVolume.sizeGiB"),
            ("FooMachinePool", "spec.rootVolume.iops"),
            ("FooMachinePool", "spec.rootVolume.throughput"),
            ("FooMachinePool", "spec.rootVolume.encrypted"),
            ("FooMachinePool", "spec.rootVolume.kmsKeyID"),
            ("FooMachinePool", "spec.volumes[].type"),
            ("FooMachinePool", "spec.volumes[].sizeGiB"),
            ("FooMachinePool", "spec.volumes[].iops"),
            ("FooMachinePool", "spec.volumes[].throughput"),
            ("FooMachinePool", "spec.volumes[].encrypted"),
            ("FooMachinePool", "spec.volumes[].kmsKeyID"),
            ("FooMachinePool", "spec.volumes[].deviceName"),
        ]),
        [YES, YES, ByLaunchTemplate],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::a_launch_template_is_complete",
            "tests/e2e/tests/admission/rules.rs::a_volume_that_ec2_would_not_launch_is_refused_at_once",
        ],
    ),
    Row::new(
        "Snapshot, deletion on termination, initialization rate, virtual device, no device",
        Yes(&[
            ("FooMachinePool", "spec.volumes[].snapshotID"),
            ("FooMachinePool", "spec.volumes[].deleteOnTermination"),
            ("FooMachinePool", "spec.volumes[].initializationRate"),
            ("FooMachinePool", "spec.rootVolume.deleteOnTermination"),
            ("FooMachinePool", "spec.rootVolume.initializationRate"),
            ("FooMachinePool", "spec.launchTemplateOverlay.BlockDeviceMappings"),
        ]),
        [PART, YES, ByLaunchTemplate],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::options_of_instances_are_sent_in_ec2s_words_and_a_public_address_needs_an_interface",
            "crates/cloud-adapter/tests/wire/shapes.rs::the_overlay_is_sent_in_ec2s_words_and_devices_beside_the_volumes",
            "crates/controller/src/pool/inputs/content/tests.rs::a_volume_that_outlives_its_instance_replaces_instances_and_one_that_does_not_changes_nothing",
        ],
    ),
    Row::new(
        "Instance stores as RAID 0",
        Part(&[("FooNodeConfig", "spec.localStorage")], "for AL2023 and Bottlerocket"),
        [NO, YES, NO],
        &[
            "crates/bootstrap/tests/bootstrap/golden.rs::al2023",
            "crates/bootstrap/tests/bootstrap/golden.rs::bottlerocket",
        ],
    ),
];

const NETWORK: &[Row] = &[
    Row::new(
        "Subnets",
        Yes(&[
            ("FooMachinePool", "spec.subnets"),
            ("FooCluster", "spec.network.existing.subnets"),
            ("FooCluster", "spec.network.managed.subnets"),
        ]),
        [YES, YES, YES],
        &[
            "crates/controller/tests/suite/bad_input.rs::a_subnet_outside_the_foo_cluster_is_named",
            "crates/controller/tests/suite/networks/life.rs::pools_launch_into_its_private_subnets_once_it_is_ready_and_not_before",
        ],
    ),
    Row::new(
        "Zones, and public or private subnets",
        Part(
            &[("FooMachinePool", "spec.subnets")],
            "zones are MachinePool's `failureDomains`; without `subnets`, private ones are preferred",
        ),
        [YES, Other::Part("by tags"), YES],
        &[
            "crates/controller/tests/suite/networks/life.rs::pools_launch_into_its_private_subnets_once_it_is_ready_and_not_before",
        ],
    ),
    Row::new(
        "Security groups",
        Yes(&[
            ("FooMachinePool", "spec.securityGroups"),
            ("FooCluster", "spec.network.existing.securityGroups"),
            ("FooCluster", "spec.network.managed.securityGroups"),
        ]),
        [YES, YES, YES],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::a_launch_template_is_complete",
            "crates/controller/tests/suite/bad_input.rs::tags_that_no_security_group_has_are_named",
        ],
    ),
    Row::new(
        "Public address",
        Yes(&[("FooMachinePool", "spec.associatePublicIPAddress")]),
        [Other::No("AWSMachine has it"), YES, ByLaunchTemplate],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::options_of_instances_are_sent_in_ec2s_words_and_a_public_address_needs_an_interface",
        ],
    ),
    Row::new(
        "Elastic Fabric Adapters (EFA), several network interfaces, secondary addresses",
        Part(
            &[("FooMachinePool", "spec.efa"), ("FooMachinePool", "spec.networkInterfaces")],
            "no secondary addresses at launch",
        ),
        [Other::No("AWSMachine has them"), Other::Part("EFA, automatic"), ByLaunchTemplate],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::each_efa_interface_has_a_network_card_and_all_security_groups",
            "crates/controller/src/pool/inputs/efa.rs::a_pool_gets_the_interfaces_it_requests_or_all_of_its_type",
            "crates/controller/tests/suite/templates.rs::a_pool_with_efa_launches_with_the_interfaces_of_its_type",
            "crates/cloud-adapter/tests/wire/shapes.rs::additional_network_interfaces_have_places_and_security_groups",
            "crates/controller/tests/suite/templates.rs::a_pool_with_additional_network_interfaces_needs_a_type_that_has_room_for_them",
            "crates/controller/src/cluster/managed/desired/tests.rs::the_group_of_nodes_alone_allows_what_elastic_fabric_adapters_need",
        ],
    ),
    Row::new(
        "Interfaces in secondary networks",
        Yes(&[("FooMachinePool", "spec.launchTemplateOverlay.SecondaryInterfaces")]),
        [NotCompared, NotCompared, ByLaunchTemplate],
        &[
            "crates/cloud-adapter/tests/wire/shapes.rs::the_overlay_is_sent_in_ec2s_words_and_devices_beside_the_volumes",
            "crates/controller/tests/suite/named.rs::resources_that_the_identity_does_not_list_are_not_used",
        ],
    ),
    Row::new(
        "Load balancers: target groups, other traffic sources, health checks with a grace period",
        Part(
            &[
                ("FooMachinePool", "spec.targetGroups"),
                ("FooMachinePool", "spec.classicLoadBalancers"),
                ("FooMachinePool", "spec.vpcLatticeTargetGroups"),
                ("FooMachinePool", "spec.targetHealth"),
            ],
            "the health in target groups of Elastic Load Balancing only",
        ),
        [NO, NO, PART],
        &[
            "crates/planner/tests/steps/targets.rs::a_group_is_created_with_its_target_groups_and_drift_is_repaired",
            "crates/planner/tests/steps/targets.rs::each_kind_of_traffic_source_is_attached_and_detached_on_its_own",
            "crates/planner/tests/steps/targets.rs::a_roll_out_waits_until_load_balancers_report_the_new_instance_as_healthy",
            "crates/controller/tests/suite/targets.rs::an_unhealthy_target_is_drained_deregistered_and_replaced",
        ],
    ),
];

const REPLACEMENT: &[Row] = &[
    Row::new(
        "Roll-outs: surge, unavailable, canary, rollback, pause",
        Yes(&[("FooMachinePool", "spec.rollout")]),
        [Other::Part("refresh preferences"), Other::Part("budgets"), Other::Part("`updateConfig`")],
        &[
            "crates/controller/tests/suite/rollouts.rs::surge_and_shares_make_it_faster",
            "crates/controller/tests/suite/rollouts.rs::a_bad_image_is_rolled_back_with_the_user_data_of_today",
            "crates/controller/tests/suite/rollouts.rs::a_roll_out_is_paused_and_resumed_by_annotation",
            "crates/controller/tests/suite/rollouts.rs::on_delete_replaces_what_users_delete",
        ],
    ),
    Row::new(
        "Maintenance windows",
        Yes(&[
            ("FooMachinePool", "spec.maintenanceWindows"),
            ("FooControlPlane", "spec.eks.maintenanceWindows"),
        ]),
        [NO, Other::Yes("budgets with a schedule"), NO],
        &[
            "crates/controller/tests/suite/windows.rs::a_roll_out_waits_for_the_window_and_begins_when_it_opens",
            "crates/controller/tests/suite/eks/windows.rs::an_addon_that_follows_eks_is_updated_when_the_window_opens",
        ],
    ),
    Row::new(
        "Maximum age of instances",
        Yes(&[("FooMachinePool", "spec.maxInstanceLifetimeSeconds")]),
        [NO, Other::Yes("`expireAfter`"), NO],
        &[
            "crates/controller/tests/suite/ages.rs::old_instances_are_replaced_one_after_the_other_with_drains",
        ],
    ),
    Row::new(
        "Unhealthy Nodes are replaced",
        Yes(&[("FooMachinePool", "spec.remediation")]),
        [NO, Other::Yes("alpha"), YES],
        &[
            "crates/controller/tests/suite/remediation.rs::peers_capi_11392_machines_marked_by_machine_health_check_are_replaced_one_at_a_time",
            "crates/controller/tests/suite/remediation.rs::a_node_that_never_joins_is_replaced",
        ],
    ),
    Row::new(
        "Rebalance recommendations of spot instances",
        Yes(&[("FooMachinePool", "spec.interruption")]),
        [YES, Other::Part("event only"), Other::Yes("always")],
        &[
            "crates/controller/tests/suite/announcements.rs::a_recommendation_is_ignored_unless_the_pool_follows_it",
        ],
    ),
    Row::new(
        "Auto Scaling's instance maintenance policy, cooldown",
        No(
            "the provider replaces instances itself (`rollout`) and has no scaling policies; what a user sets in the group for scaling policies of their own stays",
        ),
        [Other::Part("cooldown"), DoesNotApply, Other::Part("`updateConfig`")],
        &[],
    ),
    Row::new(
        "Lifecycle hooks of the user",
        Yes(&[("FooMachinePool", "spec.lifecycleHooks")]),
        [YES, NO, NO],
        &[
            "crates/planner/tests/steps/hooks.rs::a_changed_or_deleted_hook_of_the_spec_is_restored_and_others_stay",
            "crates/planner/tests/steps/hooks.rs::a_hook_that_leaves_the_spec_is_deleted_and_then_forgotten",
            "crates/controller/tests/suite/hooks.rs::a_group_is_created_with_the_hooks_of_its_spec_and_the_first_instance_waits_for_them",
            "crates/controller/tests/suite/hooks.rs::a_drained_instance_waits_for_the_other_hook_which_the_condition_names",
        ],
    ),
    Row::new(
        "Notifications of Auto Scaling to SNS topics",
        Yes(&[("FooMachinePool", "spec.notifications")]),
        [NO, DoesNotApply, NO],
        &[
            "crates/planner/tests/steps/hooks.rs::topics_of_the_spec_get_their_reports_and_those_of_others_stay",
            "crates/controller/tests/suite/hooks.rs::pools_with_notifications_share_one_list_and_follow_the_spec",
        ],
    ),
    Row::new(
        "Suspended processes",
        Part(
            &[("FooMachinePool", "spec.suspendedProcesses")],
            "not Launch and Terminate; AZRebalance always is; those that a user suspends stay suspended",
        ),
        [YES, DoesNotApply, NO],
        &[
            "crates/planner/tests/steps/hooks.rs::processes_of_the_spec_are_suspended_and_resumed_when_they_leave_it",
            "crates/planner/tests/steps/group.rs::az_rebalance_is_suspended_again_and_other_suspensions_stay",
            "crates/planner/tests/steps/group.rs::launches_that_a_person_suspended_stay_so_and_the_condition_says_it",
        ],
    ),
];

const SIZE: &[Row] = &[
    Row::new(
        "Order of deletion, concurrent drains, stabilization",
        Yes(&[("FooMachinePool", "spec.scaleIn")]),
        [NotCompared, NotCompared, NotCompared],
        &[
            "crates/planner/tests/steps/victims.rs::the_fullest_zone_gives_first_and_the_policy_decides_among_equals",
            "crates/planner/tests/steps/victims.rs::unmarked_victims_keep_to_the_limit_of_concurrent_drains",
            "crates/planner/tests/races/autoscaler.rs::r21_an_unmarked_excess_that_lasts_is_removed_after_the_stabilization",
        ],
    ),
    Row::new(
        "Upper limit, surge included",
        Yes(&[("FooMachinePool", "spec.maxSize")]),
        [NotCompared, NotCompared, NotCompared],
        &["crates/planner/tests/steps/size.rs::the_ceiling_is_never_passed_not_even_for_what_exists"],
    ),
    Row::new(
        "Size set by an AWS scaling policy",
        Yes(&[("FooMachinePool", "spec.autoscaling")]),
        [NotCompared, NotCompared, NotCompared],
        &["crates/controller/tests/suite/external_size.rs::the_group_decides_and_the_machine_pool_follows"],
    ),
    Row::new(
        "Default instance warmup of AWS scaling policies",
        Yes(&[("FooMachinePool", "spec.autoscaling.defaultInstanceWarmupSeconds")]),
        [YES, DoesNotApply, NotCompared],
        &[
            "crates/controller/tests/suite/external_size.rs::the_warmup_of_the_spec_is_kept_and_without_one_that_of_the_group",
            "crates/planner/tests/steps/group.rs::all_differences_are_one_call",
        ],
    ),
    Row::new(
        "Nodes for pending Pods, consolidation",
        No("Karpenter is for that; cluster-autoscaler scales pools"),
        [NO, YES, NO],
        &[],
    ),
    Row::new(
        "Adoption of existing groups",
        Yes(&[("FooMachinePool", "spec.adopt")]),
        [NotCompared, NotCompared, NotCompared],
        &[
            "crates/controller/tests/suite/adopted.rs::a_group_is_adopted_with_its_instances_which_are_replaced_when_the_user_says_so",
        ],
    ),
    Row::new(
        "The group stays when the pool is deleted",
        Yes(&[("FooMachinePool", "spec.deletionPolicy")]),
        [NotCompared, NotCompared, NotCompared],
        &[
            "crates/controller/tests/suite/retained.rs::a_group_stays_with_its_nodes_and_is_taken_back_without_a_replacement",
        ],
    ),
];

const NODES: &[Row] = &[
    Row::new(
        "Labels and taints of Nodes",
        Yes(&[("FooNodeConfig", "spec.labels"), ("FooNodeConfig", "spec.taints")]),
        [Other::Part("by the bootstrap provider"), YES, YES],
        &[
            "crates/bootstrap/tests/bootstrap/golden.rs::al2023",
            "crates/bootstrap/tests/bootstrap/golden.rs::bottlerocket",
            "crates/controller/tests/suite/node_config.rs::labels_and_taints_reach_an_autoscaler_that_scales_from_zero",
        ],
    ),
    Row::new(
        "Kubelet, registries, files, commands",
        Yes(&[
            ("FooNodeConfig", "spec.kubelet"),
            ("FooNodeConfig", "spec.registryMirrors"),
            ("FooNodeConfig", "spec.files"),
            ("FooNodeConfig", "spec.preCommands"),
            ("FooNodeConfig", "spec.postCommands"),
            ("FooNodeConfig", "spec.containerd"),
        ]),
        [NotCompared, NotCompared, NotCompared],
        &[
            "crates/bootstrap/tests/bootstrap/golden.rs::al2023",
            "crates/bootstrap/tests/bootstrap/golden.rs::bottlerocket",
            "crates/bootstrap/tests/bootstrap/golden.rs::cloud_init",
        ],
    ),
    Row::new(
        "Number of Pods computed for prefix delegation and custom networking of the VPC CNI",
        Yes(&[("FooNodeConfig", "spec.vpcCNI")]),
        [NotCompared, NotCompared, NotCompared],
        &[
            "crates/controller/src/pool/output/max_pods.rs::a_node_can_have_as_many_pods_as_aws_computes_for_its_type",
            "crates/controller/tests/suite/node_config.rs::the_number_of_pods_follows_from_the_vpc_cni_and_the_smallest_instance_type",
            "crates/controller/tests/suite/node_config.rs::the_number_of_pods_reaches_nodes_of_every_family",
        ],
    ),
    Row::new(
        "User data in S3",
        Yes(&[("FooMachinePool", "spec.userDataStorage")]),
        [YES, NO, NO],
        &[
            "crates/controller/tests/suite/user_data.rs::instances_fetch_what_is_too_long_for_ec2_and_only_their_role_may",
        ],
    ),
    Row::new(
        "Ignition configuration in S3",
        No("user data in S3 is for cloud-init"),
        [YES, NO, NO],
        &["crates/bootstrap/src/stored/mod.rs::formats_without_a_fetch_are_refused"],
    ),
    Row::new("Windows Nodes", No("Nodes run Linux"), [NotCompared, YES, YES], &[]),
    Row::new(
        "Subnets for Pods alone, and ENIConfigs of the VPC CNI for them",
        Yes(&[
            ("FooCluster", "spec.network.managed.subnets.types"),
            ("FooCluster", "spec.network.managed.subnets.sizes.pods"),
            ("FooCluster", "spec.network.managed.subnets.tags.pods"),
            ("FooControlPlane", "spec.eks.addons[].customNetworking"),
        ]),
        [YES, DoesNotApply, DoesNotApply],
        &[
            "crates/network/tests/network/pods.rs::subnets_for_pods_use_the_routes_of_their_zone_and_have_no_tag_of_other_controllers",
            "crates/controller/tests/suite/networks/life.rs::subnets_for_pods_are_in_the_status_and_instances_are_in_none_of_them",
            "crates/controller/src/control_plane/eks/desired/tests.rs::custom_networking_names_the_subnet_for_pods_of_each_zone",
        ],
    ),
    Row::new(
        "Tags of subnets and security groups for Karpenter",
        Yes(&[
            ("FooCluster", "spec.network.managed.subnets.tags"),
            ("FooCluster", "spec.network.managed.securityGroups.tags"),
        ]),
        [PART, DoesNotApply, DoesNotApply],
        &[
            "crates/network/tests/network/life.rs::tags_of_one_subnet_and_of_one_group_come_and_go_and_are_changed_back",
        ],
    ),
    Row::new(
        "Rules between pools and what has the security group of EKS (managed node groups, Fargate, Auto Mode)",
        Yes(&[("FooCluster", "spec.network.managed.securityGroups.clusterSecurityGroup")]),
        [NotCompared, DoesNotApply, DoesNotApply],
        &[
            "crates/network/tests/network/connection.rs::nodes_and_the_cluster_security_group_of_eks_allow_all_traffic_of_each_other",
            "crates/network/tests/network/connection.rs::while_eks_deletes_the_cluster_no_rule_names_its_group",
            "crates/controller/tests/suite/eks/connection.rs::nodes_and_the_group_of_eks_are_connected_until_the_cluster_is_deleted_and_nothing_is_left",
        ],
    ),
    Row::new(
        "EKS: OIDC identity provider of users",
        Yes(&[("FooControlPlane", "spec.eks.identityProvider")]),
        [YES, DoesNotApply, DoesNotApply],
        &[
            "crates/eks/tests/eks/identity_provider.rs::one_that_differs_is_disassociated_and_associated_again",
            "crates/eks/tests/eks/identity_provider.rs::one_of_another_owner_is_not_touched",
        ],
    ),
    Row::new(
        "EKS: Provisioned Control Plane",
        Yes(&[("FooControlPlane", "spec.eks.scalingTier")]),
        [YES, DoesNotApply, DoesNotApply],
        &[
            "crates/eks/tests/eks/identity_provider.rs::the_capacity_of_the_control_plane_changes_there_and_back",
        ],
    ),
    Row::new(
        "EKS: Fargate, managed node groups, Auto Mode, Outposts, remote networks, hybrid nodes",
        No("FooControlPlane has control planes, access and add-ons"),
        [PART, DoesNotApply, DoesNotApply],
        &[],
    ),
    Row::new(
        "Single Machines (MachineDeployments), control planes on EC2",
        No("every Machine is an instance of an Auto Scaling group"),
        [Other::No("AWSMachine has them"), DoesNotApply, DoesNotApply],
        &[],
    ),
];

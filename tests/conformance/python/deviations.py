"""Where moto 5.2.5 answers otherwise than AWS documents it: step of a scenario, and why moto is wrong.

"API" is the Auto Scaling or EC2 API Reference, "Guide" the Auto Scaling User Guide.
"""

_NO_ANSWER = "moto answers a page of HTML with status 500"
_UNCHECKED = "moto does not check it"

MOTO = {
    "groups: delete by force": "follows from the deletion that moto let pass before",
    "groups: delete with members": "API, DeleteAutoScalingGroup: ResourceInUse unless ForceDelete",
    "hooks: complete": f"{_NO_ANSWER}; it does not simulate lifecycle actions",
    "hooks: look": "API, LifecycleHook: GlobalTimeout is 100 times the heartbeat, or 48 hours if that is less",
    "hooks: nothing waits": f"{_NO_ANSWER}; API, CompleteLifecycleAction: ValidationError",
    "hooks: waits": "Guide, lifecycle hooks: a terminating instance waits for its hook; moto's hooks hold nothing up",
    "instances: malformed instance": "API, Error codes: InvalidInstanceID.Malformed",
    "launch_templates: delete a version": f"{_NO_ANSWER}: not implemented",
    "launch_templates: delete again": "API, Error codes: InvalidLaunchTemplateName.NotFoundException",
    "launch_templates: short name": f"{_UNCHECKED}; API, CreateLaunchTemplate: 3 to 128 characters",
    "launch_templates: unknown id": "API, Error codes: InvalidLaunchTemplateId.NotFound; moto gives an empty list",
    "processes: left": "follows from the process that moto let pass before",
    "processes: nothing launches": "Guide, Suspend and resume processes: moto launches with Launch suspended",
    "processes: suspend nonsense": f"{_UNCHECKED}; API, SuspendProcesses lists the processes",
    "refused_groups: above the maximum": f"{_UNCHECKED}; API, SetDesiredCapacity",
    "refused_groups: colon in the name": f"{_UNCHECKED}; API, CreateAutoScalingGroup: no colons",
    "refused_groups: create again": "API, CreateAutoScalingGroup: AlreadyExists; moto replaces the group",
    "refused_groups: desired above maximum": f"{_UNCHECKED}; API, CreateAutoScalingGroup: DesiredCapacity",
    "refused_groups: desired of nobody": _NO_ANSWER,
    "refused_groups: minimum above maximum": f"{_UNCHECKED}; API, CreateAutoScalingGroup: MaxSize",
    "refused_groups: unknown template": "Auto Scaling's own code is ValidationError; moto passes EC2's on",
    "sessions: nameless": f"{_UNCHECKED}; STS API, AssumeRole: [\\w+=,.@-]*",
    "sessions: too short": f"{_UNCHECKED}; STS API, AssumeRole: at least 900 seconds",
    "single_members: activities": "Guide, Verify a scaling activity: moto keeps no activities",
    "single_members: end a stranger": _NO_ANSWER,
    "single_members: protect a stranger": f"{_UNCHECKED}; API, SetInstanceProtection: instances of the group",
    "single_members: replaced when sick": "Guide, Health checks: an unhealthy instance is replaced; moto keeps it",
    "tags_and_pages: bad token": f"{_NO_ANSWER}; API, Common errors: InvalidNextToken",
    "tags_and_pages: page too long": f"{_NO_ANSWER}; API, DescribeAutoScalingGroups: at most 100",
    "tags_and_pages: tag nobody": _NO_ANSWER,
    "warm_pools: filled": "Guide, Warm pools: moto stores the configuration and never launches an instance",
    "warm_pools: of nobody": _NO_ANSWER,
}

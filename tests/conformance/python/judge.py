"""Sends the same calls to foo-sim and moto: judge.py <endpoint of foo-sim>.

moto is an independent reading of AWS's documents. Where the two differ one of them is wrong: `deviations.py` names the
differences in which moto is, with the reason, and any other fails. So does one that is named and no longer occurs.
"""

import json
import logging
import sys
import urllib.request
import warnings

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError
from moto.server import ThreadedMotoServer

import deviations
import scenarios

REGION = "eu-central-1"


class Account:
    """A fresh account at an endpoint, and what is needed to create groups in it."""

    # Failures that count as a result.
    excused = ()

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.results = {}
        self.scenario = ""
        self.scaling, self.ec2, self.sts = (self.client(each) for each in ("autoscaling", "ec2", "sts"))
        self.sqs, self.ssm = self.client("sqs"), self.client("ssm")
        self.eks, self.iam = self.client("eks"), self.client("iam")

    def client(self, service, key="judge", secret="judge", token=None):
        return boto3.client(
            service,
            region_name=REGION,
            endpoint_url=self.endpoint,
            aws_access_key_id=key,
            aws_secret_access_key=secret,
            aws_session_token=token,
            config=Config(retries={"total_max_attempts": 1}, parameter_validation=False),
        )

    def begin(self, scenario):
        self.scenario = scenario
        self.reset()
        self.image = self.any_image()
        if scenario == "launch_templates":
            return
        self.ec2.create_launch_template(LaunchTemplateName="main", LaunchTemplateData=self.template_data())
        self.template = {"LaunchTemplateName": "main", "Version": "1"}

    def step(self, name, call, /, *positional, pick=lambda _: "ok", **parameters):
        """Sends a call and records its result."""
        try:
            result = pick(call(*positional, **parameters))
        except ClientError as error:
            result = "refused: " + error.response["Error"]["Code"]
        except self.excused as error:
            result = f"no response: {type(error).__name__}"
        self.results[f"{self.scenario}: {name}"] = json.loads(json.dumps(result))

    def template_data(self):
        return {"ImageId": self.image, "InstanceType": "m7i.large"}

    def create(self, name, **parameters):
        wanted = {"MinSize": 0, "MaxSize": 1, "VPCZoneIdentifier": self.subnets, "LaunchTemplate": self.template}
        wanted.update(parameters)
        wanted = {key: value for key, value in wanted.items() if value is not None}
        return self.scaling.create_auto_scaling_group(AutoScalingGroupName=name, **wanted)

    def read_group(self, name):
        """A group, which must exist."""
        (group,) = self.scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"]
        return group

    def http(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        return urllib.request.urlopen(urllib.request.Request(self.endpoint + path, data=data, method=method)).read()


class Simulator(Account):
    """foo-sim. Virtual time is stepped."""

    subnets = ",".join(f"subnet-0a00000000000000{letter}" for letter in "abc")

    def reset(self):
        # No group and no template of an earlier scenario is left.
        for group in self.scaling.describe_auto_scaling_groups()["AutoScalingGroups"]:
            self.scaling.delete_auto_scaling_group(AutoScalingGroupName=group["AutoScalingGroupName"], ForceDelete=True)
        self.wait(120)
        for template in self.ec2.describe_launch_templates()["LaunchTemplates"]:
            self.ec2.delete_launch_template(LaunchTemplateId=template["LaunchTemplateId"])

    def any_image(self):
        return "ami-0a000000000000001"

    def wait(self, seconds):
        self.http("POST", "/_sim/clock", {"step_seconds": seconds})


class Moto(Account):
    """moto, in which everything happens within the call."""

    # A page of HTML when it does not know what to do; members that are missing.
    excused = (ResponseParserError, KeyError, ValueError)

    def reset(self):
        self.http("POST", "/moto-api/reset")
        subnets = self.ec2.describe_subnets()["Subnets"]
        self.subnets = ",".join(sorted(each["SubnetId"] for each in subnets))

    def any_image(self):
        images = self.ec2.describe_images(Filters=[{"Name": "architecture", "Values": ["x86_64"]}])["Images"]
        return images[0]["ImageId"]

    def wait(self, seconds):
        pass


def main(endpoint):
    # moto logs a page for each request that it cannot handle.
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        accounts = Simulator(endpoint), Moto(f"http://{host}:{port}")
        for account in accounts:
            for scenario in scenarios.ALL:
                account.begin(scenario.__name__)
                scenario(account)
    finally:
        server.stop()
    simulated, of_moto = (account.results for account in accounts)
    assert simulated.keys() == of_moto.keys(), simulated.keys() ^ of_moto.keys()
    differ = {name for name in simulated if simulated[name] != of_moto[name]}
    complaints = [
        f"{name}: foo-sim {simulated[name]}, moto {of_moto[name]}" for name in sorted(differ - deviations.MOTO.keys())
    ]
    complaints += [f"{name}: no difference any more" for name in sorted(deviations.MOTO.keys() - differ)]
    if complaints:
        sys.exit("\n".join(complaints))
    print(f"{len(simulated)} results, {len(differ)} of which moto gives otherwise for a known reason")


if __name__ == "__main__":
    main(*sys.argv[1:])

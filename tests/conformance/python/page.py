"""The web page of foo-sim in a browser: page.py <chromium> <endpoint> [<screenshot>]."""

import base64
import json
import sys
import urllib.request
from pathlib import Path

import boto3
from botocore.config import Config
from browser import Page, until

REGION = "eu-central-1"
SUBNETS = "subnet-0a00000000000000a,subnet-0a00000000000000b,subnet-0a00000000000000c"
# Markup in a name must stay text.
ODD_NAME = "a<b>&\"odd\""
ODD_CLUSTER = "a_b-c"


def main(chromium, endpoint, screenshot=None):
    keys = {"aws_access_key_id": "page", "aws_secret_access_key": "page"}
    client = lambda service: boto3.client(
        service, region_name=REGION, endpoint_url=endpoint, config=Config(retries={"total_max_attempts": 1}), **keys
    )
    groups, ec2, eks = client("autoscaling"), client("ec2"), client("eks")

    def step(seconds):
        body = json.dumps({"step_seconds": seconds}).encode()
        urllib.request.urlopen(urllib.request.Request(f"{endpoint}/_sim/clock", data=body, method="POST"))

    with Page(chromium, f"{endpoint}/") as page:
        text = lambda selector: page.value(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")
        count = lambda selector: page.value(f"document.querySelectorAll({json.dumps(selector)}).length")

        until("the page says that there is no group", lambda: text("#count") == "0 of 0")
        ec2.create_launch_template(
            LaunchTemplateName="web",
            LaunchTemplateData={"ImageId": "ami-0a000000000000001", "InstanceType": "m7i.large"},
        )
        for name, size in [("blue", 6), (ODD_NAME, 1)]:
            groups.create_auto_scaling_group(
                AutoScalingGroupName=name,
                MinSize=0,
                MaxSize=20,
                DesiredCapacity=size,
                VPCZoneIdentifier=SUBNETS,
                LaunchTemplate={"LaunchTemplateName": "web", "Version": "1"},
            )
        until("both groups are listed without a reload", lambda: count("#groups button") == 2)
        assert page.value("document.querySelector('#groups b')") is None
        names = page.value("[...document.querySelectorAll('#groups .group-name')].map((it) => it.textContent)")
        assert set(names) == {"blue", ODD_NAME}, names

        page.value("document.querySelector('[data-group=\"blue\"]').click()")
        step(5)
        until("six instances launch", lambda: count("#zones .square.launching") == 6)
        assert text("#name") == "blue"
        assert page.value("[...document.querySelectorAll('.zone .squares')].map((it) => it.children.length)") == [2, 2, 2]
        step(120)
        until("six instances serve", lambda: count("#zones .square.serving") == 6)
        until("the diary says so", lambda: count("#activities tr.Successful") == 6)
        assert "6 InService" in text("#legend") or "InService 6" in text("#legend"), text("#legend")

        groups.set_desired_capacity(AutoScalingGroupName="blue", DesiredCapacity=4)
        step(3)
        until("two instances leave", lambda: count("#zones .square.leaving") == 2)
        if screenshot:
            for scheme in ["light", "dark"]:
                page.emulate(scheme)
                Path(f"{screenshot}-{scheme}.png").write_bytes(base64.b64decode(page.screenshot()))
        step(120)
        until("four are left", lambda: count("#zones .square") == 4 and count("#zones .square.serving") == 4)
        assert text("#refresh") == ""
        groups.put_warm_pool(AutoScalingGroupName="blue", MaxGroupPreparedCapacity=6)
        step(120)
        until("two wait in the warm pool", lambda: count("#zones .square.warmed") == 2)
        groups.start_instance_refresh(AutoScalingGroupName="blue", Preferences={"MinHealthyPercentage": 50})
        step(3)
        until("the refresh is shown", lambda: text("#refresh").startswith("Instance refresh: InProgress, 0 %"))
        step(400)
        until("and its end", lambda: text("#refresh").startswith("Instance refresh: Successful, 100 %"))

        calls = page.value("[...document.querySelectorAll('#calls tr')].map((it) => it.children[0].textContent)")
        assert "autoscaling CreateAutoScalingGroup" in calls, calls

        until("the network is shown", lambda: count("#networks details[open] li[data-part^='subnet-']") == 6)
        gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
        ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
        until("a new one with its gateway", lambda: count(f"[data-vpc='{vpc}'] li[data-part='{gateway}']") == 1)

        assert page.value("document.getElementById('clusters-title').hidden") is True
        eks.create_cluster(
            name=ODD_CLUSTER,
            roleArn="arn:aws:iam::123456789012:role/cluster",
            version="1.35",
            resourcesVpcConfig={"subnetIds": SUBNETS.split(",")},
            accessConfig={"authenticationMode": "API"},
        )
        cluster = f"[data-cluster='{ODD_CLUSTER}']"
        until("the cluster is created", lambda: text(f"{cluster} h3") == f"{ODD_CLUSTER}: CREATING, 1.35, API")
        step(660)
        until("it is active", lambda: text(f"{cluster} h3") == f"{ODD_CLUSTER}: ACTIVE, 1.35, API")
        eks.create_addon(clusterName=ODD_CLUSTER, addonName="coredns")
        until("its add-on is listed", lambda: count(f"{cluster} [data-part='coredns']") == 1)
        eks.update_cluster_version(name=ODD_CLUSTER, version="1.36")
        step(5)
        until("its update is listed", lambda: count(f"{cluster} [data-part='VersionUpdate']") == 1)
        assert "UPDATING" in text(f"{cluster} h3"), text(f"{cluster} h3")
        health = json.dumps([{"code": "Other", "message": "<b>bad</b>"}]).encode()
        at = f"{endpoint}/_sim/regions/{REGION}/clusters/{ODD_CLUSTER}/health"
        urllib.request.urlopen(urllib.request.Request(at, data=health, method="PUT"))
        until("what is wrong with it stands out", lambda: text(f"{cluster} h3.trouble").endswith("Other: <b>bad</b>"))

        page.value("const f = document.getElementById('filter'); f.value = 'odd'; f.dispatchEvent(new Event('input'))")
        until("the filter leaves one group", lambda: count("#groups button") == 1)
        assert text("#trouble") and page.value("document.getElementById('trouble').hidden") is True
    print("the page shows what happens")


if __name__ == "__main__":
    main(*sys.argv[1:])

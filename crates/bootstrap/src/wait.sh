#!/bin/sh
# Ends once this instance is in no warm pool of its Auto Scaling group, nor on the way into one.
read_state() {
  token=$(curl -gsf -m 5 --noproxy '*' -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$1/api/token") &&
    curl -gs -m 5 --noproxy '*' -H "X-aws-ec2-metadata-token: $token" -w '/%{http_code}' \
      "$1/meta-data/autoscaling/target-lifecycle-state"
}
absent=0
last=none
while true; do
  state=$(read_state http://169.254.169.254/latest) || state=$(read_state 'http://[fd00:ec2::254]/latest') || state=
  [ "$state" = "$last" ] || echo "target lifecycle state: ${state:-cannot be read}" >&2
  last=$state
  case $state in
    InService/200 | Standby/200 | Detached/200 | Terminated/200) exit 0 ;;
    */404) absent=$((absent + 1)) ;;
    *) absent=0 ;;
  esac
  [ $absent -lt 60 ] || exit 0
  sleep 2
done

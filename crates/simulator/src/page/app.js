// Draws the simulated region once a second. Everything from the simulator is put in as text, never as markup.
"use strict";

const PERIOD_MS = 1000;
const MINUTE_MS = 60_000;
/** How far back the sparklines of calls go. */
const HISTORY_MS = 5 * MINUTE_MS;
/** Groups in the list; the filter finds the others. */
const LIST_LIMIT = 200;
/** Colour class of a lifecycle state, by how its name begins; the first that fits. */
const KINDS = [
  ["InService", "serving"],
  ["Pending:Wait", "launch-wait"],
  ["Pending", "launching"],
  ["Terminating:Wait", "leave-wait"],
  ["Terminating", "leaving"],
  ["Terminated", "leaving"],
  ["Warmed", "warmed"],
  ["Standby", "standby"],
  ["EnteringStandby", "standby"],
  ["Detach", "leaving"],
];

const $ = (id) => document.getElementById(id);
const history = [];
const chosen = readChoice();

function readChoice() {
  const hash = new URLSearchParams(location.hash.slice(1));
  return { region: hash.get("region"), group: hash.get("group") };
}

function choose(region, group) {
  chosen.region = region;
  chosen.group = group;
  const hash = new URLSearchParams({ region, ...(group ? { group } : {}) });
  window.history.replaceState(null, "", `#${hash}`);
  refresh();
}

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function kindOf(state) {
  const found = KINDS.find(([begin]) => state.startsWith(begin));
  return found ? found[1] : "other";
}

function time(millis) {
  return new Date(millis).toISOString().replace("T", " ").replace(/\.\d+Z$/, "Z");
}

function inWords(states) {
  return Object.entries(states).map(([state, count]) => `${count} ${state}`).join(", ") || "no instances";
}

async function ask(path) {
  const answer = await fetch(path, { cache: "no-store" });
  if (answer.status === 404) return null;
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

function drawHead(all) {
  $("clock").textContent = time(all.now);
  $("pace").textContent = all.pace.mode === "stepped" ? "stepped by hand" : `${all.pace.factor} × real time`;
  const names = Object.keys(all.regions);
  if (!names.includes(chosen.region)) chosen.region = names[0];
  const select = $("region");
  if ([...select.options].map((option) => option.value).join() !== names.join()) {
    select.replaceChildren(...names.map((name) => element("option", { value: name, textContent: name })));
  }
  select.value = chosen.region;
}

function drawList(groups) {
  const part = $("filter").value;
  const found = groups.filter((group) => group.name.includes(part));
  if (!groups.some((group) => group.name === chosen.group)) chosen.group = groups[0]?.name ?? null;
  const shown = found.slice(0, LIST_LIMIT);
  const more = found.length - shown.length;
  $("count").textContent = `${found.length} of ${groups.length}` + (more > 0 ? `, the first ${LIST_LIMIT} shown` : "");
  const list = $("groups");
  const focused = document.activeElement?.dataset?.group;
  list.replaceChildren(...shown.map((group) => {
    const actual = Object.values(group.states).reduce((sum, count) => sum + count, 0);
    const button = element("button", { type: "button", onclick: () => choose(chosen.region, group.name) },
      element("span", { className: "group-name", textContent: group.name }),
      element("span", { className: "group-size", textContent: `${actual} / ${group.desired}` }));
    button.dataset.group = group.name;
    button.title = inWords(group.states);
    if (group.name === chosen.group) button.setAttribute("aria-current", "true");
    return element("li", {}, button);
  }));
  if (focused) list.querySelector(`[data-group="${CSS.escape(focused)}"]`)?.focus();
}

function square(member) {
  const words = [member.id, member.state, member.type, member.market === "Spot" ? "spot" : "",
    member.version ? `version ${member.version}` : "", member.ec2 ? `EC2: ${member.ec2}` : "",
    member.healthy ? "" : "unhealthy", member.protected ? "protected from scale-in" : ""];
  const text = words.filter(Boolean).join(", ");
  const made = element("li", { className: `square ${kindOf(member.state)}`, title: text });
  if (!member.healthy) made.classList.add("unhealthy");
  if (member.market === "Spot") made.classList.add("spot");
  made.setAttribute("aria-label", text);
  made.dataset.instance = member.id;
  return made;
}

function drawGroup(group) {
  $("name").textContent = group ? group.name : "No group";
  $("sizes").textContent = group
    ? `desired ${group.desired}, minimum ${group.min}, maximum ${group.max}: ${inWords(group.states)}`
      + (group.suspended.length ? `; suspended: ${group.suspended.join(", ")}` : "")
      + (group.deleting ? "; being deleted" : "")
    : "Groups appear here when somebody makes one.";
  const refresh = group?.refresh;
  $("refresh").textContent = refresh
    ? `Instance refresh: ${refresh.status}, ${refresh.percentage} %, ${refresh.left} to update`
      + (refresh.reason ? ` (${refresh.reason})` : "")
    : "";
  const members = group ? group.members : [];
  const zones = [...new Set([...(group ? group.zones : []), ...members.map((member) => member.zone)])].sort();
  $("zones").replaceChildren(...zones.map((zone) => {
    const here = members.filter((member) => member.zone === zone);
    const squares = element("ul", { className: "squares" }, ...here.map(square));
    squares.setAttribute("aria-label", `${here.length} instances in ${zone}`);
    const trouble = group.troubled[zone] ? `, ${group.troubled[zone]}` : "";
    const title = element("h3", { textContent: `${zone} (${here.length}${trouble})` });
    return element("div", { className: "zone" }, title, squares);
  }));
  const states = Object.entries(group ? group.states : {});
  $("legend").replaceChildren(...states.map(([state, count]) => element("li", {},
    element("span", { className: `square ${kindOf(state)}` }), `${state} ${count}`)));
  const activities = group ? group.activities : [];
  $("activities").replaceChildren(...activities.map((one) => element("tr", { className: one.status },
    element("td", { textContent: time(one.started) }),
    element("td", { textContent: one.status }),
    element("td", { textContent: one.description + (one.message ? `: ${one.message}` : "") }))));
}

function named(thing) {
  return thing.name ? `${thing.name} (${thing.id})` : thing.id;
}

/** A list of a network: its title, and a line per thing. */
function lines(title, things, inWords) {
  if (!things.length) return [];
  const items = things.map((thing) => {
    const item = element("li", { className: thing.trouble ? "trouble" : "", textContent: inWords(thing) });
    item.dataset.part = thing.id;
    return item;
  });
  return [element("h4", { textContent: title }), element("ul", { className: "parts" }, ...items)];
}

const closed = new Set();

function drawNetwork(vpc) {
  const words = [vpc.ranges.join(", "), vpc.state, vpc.default ? "default VPC" : ""].filter(Boolean).join(", ");
  const made = element("details", { open: !closed.has(vpc.id) },
    element("summary", { textContent: `${named(vpc)}: ${words}` }),
    ...lines("Subnets", vpc.subnets, (it) =>
      `${it.zone}: ${named(it)}, ${it.range}, ${it.free} free, ${it.state}, routes of ${it.table ?? "the main table"}`),
    ...lines("Gateways", vpc.gateways, named),
    ...lines("NAT gateways", vpc.nat, (it) => `${named(it)} in ${it.subnet}: ${it.state}${it.failure ? `, ${it.failure}` : ""}`),
    ...lines("Route tables", vpc.tables, (it) => `${named(it)}${it.main ? ", main" : ""}: ${it.routes.join("; ")}`),
    ...lines("Security groups", vpc.groups, (it) => `${named(it)}, ${it.group}: in ${it.in}, out ${it.out} rules`),
    ...lines("Endpoints", vpc.endpoints, (it) => `${named(it)}, ${it.service}: ${it.state}`),
    ...lines("Load balancers and target groups", vpc.balancers, (it) => `${it.kind} ${it.id}`),
    ...lines("Other interfaces", vpc.interfaces, (it) => `${it.id} in ${it.subnet}: ${it.description || "no description"}`));
  made.addEventListener("toggle", () => (made.open ? closed.delete(vpc.id) : closed.add(vpc.id)));
  made.dataset.vpc = vpc.id;
  return made;
}

/** A cluster of EKS: its state in a line, and what belongs to it. */
function drawCluster(cluster) {
  const words = [cluster.status, cluster.version, cluster.mode, ...cluster.health].join(", ");
  const part = (it) => `${it.id}: ${it.words}`;
  const made = element("section", {},
    element("h3", { className: cluster.health.length ? "trouble" : "", textContent: `${cluster.id}: ${words}` }),
    ...lines("Updates", cluster.updates, part),
    ...lines("Add-ons", cluster.addons, part),
    ...lines("Access entries", cluster.entries, part),
    ...lines("Pod identity associations", cluster.pods, part));
  made.dataset.cluster = cluster.id;
  return made;
}

function drawNetworks(networks) {
  $("clusters").replaceChildren(...networks.clusters.map(drawCluster));
  $("clusters-title").hidden = !networks.clusters.length;
  const list = $("networks");
  const focused = document.activeElement?.parentElement?.dataset?.vpc;
  list.replaceChildren(...networks.vpcs.map(drawNetwork));
  if (focused) list.querySelector(`[data-vpc="${CSS.escape(focused)}"] summary`)?.focus();
  const addresses = networks.addresses.map((it) => `${it.ip}${it.interface ? "" : " (not in use)"}`).join(", ");
  $("addresses").textContent = addresses ? `Elastic IP addresses: ${addresses}` : "";
}

/** Calls of the last minute and a line of the last five, in real time. */
function drawCalls(calls) {
  const now = Date.now();
  history.push({ at: now, calls });
  while (history.length > 1 && now - history[0].at > HISTORY_MS) history.shift();
  const minute = history.find((sample) => now - sample.at <= MINUTE_MS) ?? history[0];
  const rows = Object.keys(calls).sort().map((action) => {
    const last = calls[action] - (minute.calls[action] ?? 0);
    return element("tr", {},
      element("th", { scope: "row", textContent: action }),
      element("td", { textContent: String(last) }),
      element("td", {}, sparkline(action)));
  });
  $("calls").replaceChildren(...rows);
}

function sparkline(action) {
  const width = 100;
  const height = 18;
  const bins = new Array(50).fill(0);
  const now = history[history.length - 1].at;
  for (let at = 1; at < history.length; at += 1) {
    const more = (history[at].calls[action] ?? 0) - (history[at - 1].calls[action] ?? 0);
    const bin = bins.length - 1 - Math.floor(((now - history[at].at) * bins.length) / HISTORY_MS);
    if (bin >= 0) bins[bin] += Math.max(0, more);
  }
  const most = Math.max(1, ...bins);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("class", "sparkline");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `calls of ${action} in the last five minutes`);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  const step = width / (bins.length - 1);
  line.setAttribute("points", bins.map((count, at) => `${at * step},${height - 1 - (count / most) * (height - 2)}`).join(" "));
  svg.append(line);
  return svg;
}

let running = false;

async function refresh() {
  if (running) return;
  running = true;
  try {
    const all = await ask("/_sim/page");
    drawHead(all);
    drawList(all.regions[chosen.region] ?? []);
    drawCalls(all.calls);
    const path = ["/_sim/page", chosen.region, chosen.group].map((part, at) => (at ? encodeURIComponent(part) : part));
    drawGroup(chosen.group ? await ask(path.join("/")) : null);
    drawNetworks(await ask(path.slice(0, 2).join("/")));
    $("trouble").hidden = true;
  } catch (error) {
    $("trouble").hidden = false;
    console.warn(error);
  } finally {
    running = false;
  }
}

$("region").addEventListener("change", (event) => choose(event.target.value, null));
$("filter").addEventListener("input", refresh);
setInterval(refresh, PERIOD_MS);
refresh();

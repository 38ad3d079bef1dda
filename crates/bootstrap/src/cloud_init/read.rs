//! User data as cloud-init reads it, and its last word to `bootstrap.sh` as that script does.

use super::{BOOTSTRAP, joining};
use crate::input::FileInput;
use crate::kubelet;
use crate::packed::unpack;
use crate::seen::{self, Seen, Unreadable};
use crate::yaml;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What is read of a cloud-config.
#[derive(Default)]
pub(crate) struct CloudConfig {
    pub(crate) files: Vec<FileInput>,
    pub(crate) commands: Vec<Vec<String>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Document {
    write_files: Vec<WrittenFile>,
    runcmd: Vec<Command>,
}

#[derive(Deserialize)]
struct WrittenFile {
    path: String,
    owner: Option<String>,
    permissions: Option<String>,
    #[serde(default)]
    encoding: String,
    #[serde(default)]
    content: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Command {
    Words(Vec<String>),
    Line(String),
}

/// A cloud-config's files and commands.
pub(crate) fn cloud_config(bytes: &[u8]) -> Result<CloudConfig, Unreadable> {
    let text = std::str::from_utf8(bytes).map_err(|error| Unreadable::new(error.to_string()))?;
    if text.lines().next().map(str::trim_end) != Some("#cloud-config") {
        return Err(Unreadable::new("not a cloud-config: the first line is not #cloud-config"));
    }
    let document: Document = yaml::read(text)
        .map_err(|error| Unreadable::new(format!("failed to load the cloud-config as YAML: {error}")))?;
    let commands = document.runcmd.into_iter().map(|command| match command {
        Command::Words(words) => words,
        Command::Line(line) => vec![line],
    });
    Ok(CloudConfig {
        commands: commands.collect(),
        files: document.write_files.into_iter().map(file).collect::<Result<_, _>>()?,
    })
}

/// cloud-init, "Write Files": other encodings than these are taken for plain text.
fn file(file: WrittenFile) -> Result<FileInput, Unreadable> {
    let of_base64 =
        |text: &str| BASE64.decode(text).map_err(|error| Unreadable::new(format!("{}: {error}", file.path)));
    let content = match file.encoding.to_ascii_lowercase().as_str() {
        "b64" | "base64" => of_base64(&file.content)?,
        "gz+b64" | "gz+base64" | "gzip+b64" | "gzip+base64" => unpack(&of_base64(&file.content)?)
            .map_err(|error| Unreadable::new(format!("{}: {error}", file.path)))?,
        _ => file.content.into_bytes(),
    };
    Ok(FileInput { path: file.path, owner: file.owner, permissions: file.permissions, content })
}

/// What an image with `bootstrap.sh` takes from user data.
pub(crate) fn read(user_data: &[u8]) -> Result<Seen, Unreadable> {
    let document = unpack(user_data).map_err(|error| Unreadable::new(error.to_string()))?;
    let cloud = cloud_config(&document)?;
    let when_in_service = joining::read(&cloud.files);
    let joins = cloud.commands.iter().chain(&when_in_service).find_map(|words| after_bootstrap(words));
    let words = joins.ok_or_else(|| Unreadable::new(format!("no command runs {BOOTSTRAP}")))?;
    Arguments::of(words)?.seen(cloud, when_in_service.is_some())
}

/// The arguments of `bootstrap.sh`, if these words run it.
fn after_bootstrap(words: &[String]) -> Option<&[String]> {
    let at = words.iter().position(|word| word == BOOTSTRAP)?;
    words.get(at + 1..)
}

/// The words after `bootstrap.sh`.
#[derive(Default)]
struct Arguments {
    cluster: String,
    options: BTreeMap<String, String>,
}

impl Arguments {
    fn of(words: &[String]) -> Result<Self, Unreadable> {
        let mut read = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word.starts_with("--") {
                let value =
                    words.next().ok_or_else(|| Unreadable::new(format!("{word}: unbound variable")))?;
                read.options.insert(word.clone(), value.clone());
            } else {
                read.cluster.clone_from(word);
            }
        }
        if read.cluster.is_empty() {
            return Err(Unreadable::new("CLUSTER_NAME is not defined"));
        }
        Ok(read)
    }

    fn option(&self, name: &str) -> Result<&str, Unreadable> {
        let value = self.options.get(name).map(String::as_str);
        value.ok_or_else(|| {
            Unreadable::new(format!("{name} is missing: {BOOTSTRAP} would have to ask EKS for it"))
        })
    }

    fn seen(&self, cloud: CloudConfig, join_when_in_service: bool) -> Result<Seen, Unreadable> {
        let authority = BASE64
            .decode(self.option("--b64-cluster-ca")?)
            .map_err(|error| Unreadable::new(format!("base64: invalid input: {error}")))?;
        let dns = self.options.get("--dns-cluster-ip").map(|text| text.parse()).transpose();
        let range = self.options.get("--service-ipv6-cidr").map(|text| text.parse()).transpose();
        let flags = Flags::of(self.options.get("--kubelet-extra-args").map_or("", String::as_str))?;
        seen::check_labels(&flags.labels)?;
        Ok(Seen {
            cluster: self.cluster.clone(),
            endpoint: self.option("--apiserver-endpoint")?.to_owned(),
            certificate_authority: authority,
            service_range: range.map_err(|_| Unreadable::new("--service-ipv6-cidr is not a range"))?,
            dns: dns.map_err(|_| Unreadable::new("--dns-cluster-ip is not an IP address"))?,
            labels: flags.labels,
            taints: flags.taints,
            kubelet: flags.kubelet,
            join_when_in_service,
            files: cloud.files,
            commands: cloud.commands,
        })
    }
}

/// The kubelet's flags.
#[derive(Default)]
struct Flags {
    labels: BTreeMap<String, String>,
    taints: Vec<crate::Taint>,
    kubelet: Map<String, Value>,
}

impl Flags {
    fn of(text: &str) -> Result<Self, Unreadable> {
        let mut read = Self::default();
        for word in text.split_whitespace() {
            let flag = word.strip_prefix("--").and_then(|flag| flag.split_once('='));
            let (name, value) = flag
                .ok_or_else(|| Unreadable::new(format!("unknown command {word}: not a flag with a value")))?;
            match name {
                "node-labels" => read.labels.extend(seen::labels(value)?),
                "register-with-taints" => {
                    read.taints = value.split(',').map(seen::taint).collect::<Result<_, _>>()?;
                }
                _ => read.kubelet.extend(kubelet::from_flag(name, value)),
            }
        }
        Ok(read)
    }
}

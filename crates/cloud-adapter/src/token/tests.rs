use super::*;
use aws_credential_types::provider::future;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::sync::atomic::{AtomicU32, Ordering};

/// A provider that counts how often it is asked, and gives credentials that live this long, or none.
#[derive(Clone, Debug)]
struct Counting(Arc<AtomicU32>, Option<Duration>);

impl aws_credential_types::provider::ProvideCredentials for Counting {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        self.0.fetch_add(1, Ordering::SeqCst);
        let ends = self.1.map(|lives| SystemTime::now() + lives);
        let keys = Credentials::new("AKIDEXAMPLE", "secret", Some("session".to_owned()), ends, "test");
        future::ProvideCredentials::ready(Ok(keys))
    }
}

fn config(provider: impl aws_credential_types::provider::ProvideCredentials + 'static) -> SdkConfig {
    SdkConfig::builder().credentials_provider(SharedCredentialsProvider::new(provider)).build()
}

async fn signer(lives: Option<Duration>) -> (Signer, Arc<AtomicU32>) {
    let asked = Arc::new(AtomicU32::new(0));
    let config = config(Counting(Arc::clone(&asked), lives));
    let signer = Signer::new(&config, "eu-central-1", Sessions::new(), Skew::default()).await;
    (signer, asked)
}

fn url(token: &str) -> String {
    let encoded = token.strip_prefix("k8s-aws-v1.").unwrap();
    assert!(!encoded.contains(['=', '+', '/']), "{encoded}");
    String::from_utf8(URL_SAFE_NO_PAD.decode(encoded).unwrap()).unwrap()
}

#[tokio::test]
async fn a_token_is_a_presigned_call_of_the_regions_sts() {
    let (signer, _) = signer(None).await;
    let made = signer.token("main").await.unwrap();
    let url = url(&made.token);
    let (base, query) = url.split_once('?').unwrap();
    assert_eq!(base, "https://sts.eu-central-1.amazonaws.com/");
    let mut fields: Vec<&str> = query.split('&').filter_map(|field| Some(field.split_once('=')?.0)).collect();
    fields.sort_unstable();
    let allowed = [
        "Action",
        "Version",
        "X-Amz-Algorithm",
        "X-Amz-Credential",
        "X-Amz-Date",
        "X-Amz-Expires",
        "X-Amz-Security-Token",
        "X-Amz-Signature",
        "X-Amz-SignedHeaders",
    ];
    assert_eq!(fields, allowed);
    for part in ["Action=GetCallerIdentity", "X-Amz-Expires=60", "X-Amz-SignedHeaders=host%3Bx-k8s-aws-id"] {
        assert!(query.split('&').any(|field| field == part), "{part} is not in {query}");
    }
    assert!(!url.contains("main"), "the cluster is signed, not sent");
    assert_ne!(url, self::url(&signer.token("other").await.unwrap().token));
    assert!(!format!("{made:?} {signer:?}").contains("k8s-aws"), "it is a credential");
}

#[tokio::test]
async fn every_partition_has_its_host() {
    for (region, host) in [
        ("us-gov-west-1", "https://sts.us-gov-west-1.amazonaws.com"),
        ("cn-north-1", "https://sts.cn-north-1.amazonaws.com.cn"),
        ("us-iso-east-1", "https://sts.us-iso-east-1.c2s.ic.gov"),
        ("us-isob-east-1", "https://sts.us-isob-east-1.sc2s.sgov.gov"),
        ("us-east-1", "https://sts.us-east-1.amazonaws.com"),
        ("eusc-de-east-1", "https://sts.eusc-de-east-1.amazonaws.eu"),
    ] {
        assert_eq!(sts(&SdkConfig::builder().build(), region).await.as_deref(), Some(host));
    }
}

#[tokio::test]
async fn long_credentials_are_asked_for_once_and_short_ones_before_each_token() {
    let (long, asked) = signer(Some(Duration::from_mins(30))).await;
    for cluster in ["a", "b", "c"] {
        long.token(cluster).await.unwrap();
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    let (short, asked) = signer(Some(Duration::from_mins(10))).await;
    let made = short.token("a").await.unwrap();
    short.token("b").await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    let lives = made.lives.as_secs();
    assert!((590..=600).contains(&lives), "as long as its credentials: {lives} s");
}

#[tokio::test]
async fn a_token_lives_fifteen_minutes_however_wrong_our_clock_is() {
    let (signer, _) = signer(None).await;
    let now = millis(SystemTime::now());
    signer.0.skew.note(now, now, now / 1_000 * 1_000 - 3_600_000);
    let made = signer.token("main").await.unwrap();
    assert_eq!(made.lives, Duration::from_mins(15));
    let hour_ago = aws_smithy_types::DateTime::from_millis(now - 3_600_000);
    let text = hour_ago.fmt(aws_smithy_types::date_time::Format::DateTime).unwrap();
    let signed: String = text.chars().filter(char::is_ascii_digit).take(10).collect();
    let date = format!("X-Amz-Date={}T{}", &signed[..8], &signed[8..]);
    assert!(url(&made.token).contains(&date), "{date} is the hour of AWS's clock");
}

#[tokio::test]
async fn dying_credentials_sign_nothing() {
    let (signer, _) = signer(Some(Duration::from_secs(50))).await;
    let refused = signer.token("main").await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Credentials);
    let none = SdkConfig::builder().build();
    let signer = Signer::new(&none, "eu-central-1", Sessions::new(), Skew::default()).await;
    assert_eq!(signer.token("main").await.unwrap_err().kind, ErrorKind::Credentials);
}

#[tokio::test]
async fn after_a_refusal_of_aws_credentials_are_asked_for_again() {
    let (signer, asked) = signer(None).await;
    signer.token("main").await.unwrap();
    signer.0.sessions.forget();
    signer.token("main").await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

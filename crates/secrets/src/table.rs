// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists the forms of tokens, from the public documentation of their issuers.

use std::ops::Range;

use super::check::TokenCheck::{self, Checksum, Mixed, Varied};
use super::context;
use super::shape::TokenAlphabet::{Any64, Base32, Base62, Base64, Capitals, Digits, Hex, Url, Word};
use super::shape::TokenPart::{self, Run, Text};

/// One form of a kind of secret.
#[derive(Debug)]
pub(super) struct TokenForm {
    pub(super) kind: &'static str,
    pub(super) about: &'static str,
    /// Prefixes of the token, or strings that precede it.
    pub(super) starts: &'static [&'static str],
    pub(super) shape: FormShape,
}

/// What must follow the prefix.
#[derive(Debug)]
pub(super) enum FormShape {
    /// The prefix is part of the token.
    Token(&'static [TokenPart], TokenCheck),
    /// The token follows the prefix.
    Value(&'static [TokenPart], TokenCheck),
    /// A function checks the surrounding text.
    Context(FindSecretFn),
    /// A secret that is recognized only by its surrounding text. Any other form that matches takes precedence.
    Guess(FindSecretFn),
}

/// Finds the secret around a prefix. The function stores how far it has read in its last argument. Prefixes before
/// that position are not tried again.
type FindSecretFn = fn(&[u8], Range<usize>, &mut usize) -> Option<Range<usize>>;

const fn token(
    kind: &'static str,
    about: &'static str,
    starts: &'static [&'static str],
    parts: &'static [TokenPart],
    check: TokenCheck,
) -> TokenForm {
    TokenForm { kind, about, starts, shape: FormShape::Token(parts, check) }
}

const fn value(
    kind: &'static str,
    about: &'static str,
    starts: &'static [&'static str],
    parts: &'static [TokenPart],
    check: TokenCheck,
) -> TokenForm {
    TokenForm { kind, about, starts, shape: FormShape::Value(parts, check) }
}

const fn context(
    kind: &'static str,
    about: &'static str,
    starts: &'static [&'static str],
    find: FindSecretFn,
) -> TokenForm {
    TokenForm { kind, about, starts, shape: FormShape::Context(find) }
}

const fn guess(
    kind: &'static str,
    about: &'static str,
    starts: &'static [&'static str],
    find: FindSecretFn,
) -> TokenForm {
    TokenForm { kind, about, starts, shape: FormShape::Guess(find) }
}

/// All forms that are recognized.
pub(super) const TOKEN_FORMS: &[TokenForm] = &[
    // Code hosts and registries.
    token(
        "github-token",
        "GitHub access token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        &[Run(Base62, 36, 36)],
        Checksum,
    ),
    token("github-token", "GitHub access token, long form", &["ghs_", "ghu_"], &[Run(Word, 40, 600)], Mixed),
    token(
        "github-token",
        "GitHub fine-grained access token",
        &["github_pat_"],
        &[Run(Base62, 22, 22), Text("_"), Run(Base62, 59, 59)],
        Mixed,
    ),
    token(
        "gitlab-token",
        "GitLab access, deploy, runner or trigger token",
        &["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "gloas-", "glft-", "glsoat-"],
        &[Run(Url, 20, 300)],
        Varied,
    ),
    token("npm-token", "npm access token", &["npm_"], &[Run(Base62, 36, 36)], Checksum),
    token("pypi-token", "PyPI upload token", &["pypi-AgEI"], &[Run(Url, 50, 600)], Mixed),
    token("rubygems-token", "RubyGems API key", &["rubygems_"], &[Run(Hex, 48, 48)], Varied),
    token("crates-token", "crates.io API token", &["cio"], &[Run(Base62, 32, 32)], Mixed),
    token("docker-token", "Docker Hub access token", &["dckr_pat_", "dckr_oat_"], &[Run(Url, 27, 32)], Mixed),
    token(
        "postman-key",
        "Postman API key",
        &["PMAK-"],
        &[Run(Hex, 24, 24), Text("-"), Run(Hex, 34, 34)],
        Varied,
    ),
    // Cloud providers.
    token(
        "aws-access-key",
        "AWS access key id",
        &["AKIA", "ASIA", "ABIA", "ACCA"],
        &[Run(Base32, 16, 16)],
        Varied,
    ),
    context(
        "aws-secret-key",
        "AWS secret access key",
        &[
            "secret_access_key",
            "SECRET_ACCESS_KEY",
            "SecretAccessKey",
            "secretAccessKey",
            "aws_secret_key",
            "AWS_SECRET_KEY",
        ],
        context::find_aws_secret,
    ),
    token("google-api-key", "Google API key", &["AIza"], &[Run(Url, 35, 35)], Mixed),
    token("google-oauth-secret", "Google OAuth client secret", &["GOCSPX-"], &[Run(Url, 28, 28)], Mixed),
    token("google-oauth-token", "Google OAuth access token", &["ya29."], &[Run(Url, 30, 1000)], Mixed),
    value(
        "azure-storage-key",
        "Azure storage account key",
        &["AccountKey=", "SharedAccessKey="],
        &[Run(Base64, 43, 86), Text("=")],
        Mixed,
    ),
    value(
        "azure-sas",
        "signature of an Azure shared access address",
        &["&sig=", "?sig="],
        &[Run(Any64, 43, 80)],
        Mixed,
    ),
    token(
        "digitalocean-token",
        "DigitalOcean token",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        &[Run(Hex, 64, 64)],
        Varied,
    ),
    token(
        "cloudflare-key",
        "Cloudflare origin CA key",
        &["v1.0-"],
        &[Run(Hex, 24, 24), Text("-"), Run(Hex, 140, 150)],
        Varied,
    ),
    context("heroku-key", "Heroku API key", &["heroku", "HEROKU", "Heroku"], context::find_heroku_key),
    token("heroku-key", "Heroku API key with its prefix", &["HRKU-"], &[Run(Url, 36, 80)], Varied),
    token("fly-token", "Fly.io token", &["fm1r_", "fm1a_", "fm2_"], &[Run(Any64, 100, 2000)], Mixed),
    token("netlify-token", "Netlify access token", &["nfp_"], &[Run(Base62, 36, 40)], Mixed),
    token("vercel-token", "Vercel storage token", &["vercel_blob_rw_"], &[Run(Word, 30, 80)], Mixed),
    token("supabase-token", "Supabase token", &["sbp_"], &[Run(Hex, 40, 40)], Varied),
    token("supabase-token", "Supabase secret key", &["sb_secret_"], &[Run(Url, 30, 50)], Mixed),
    token("databricks-token", "Databricks token", &["dapi"], &[Run(Hex, 32, 32)], Varied),
    token("pulumi-token", "Pulumi access token", &["pul-"], &[Run(Hex, 40, 40)], Varied),
    token(
        "planetscale-token",
        "PlanetScale password or token",
        &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
        &[Run(Url, 32, 64)],
        Mixed,
    ),
    token(
        "tailscale-key",
        "Tailscale key",
        &["tskey-auth-", "tskey-api-", "tskey-client-"],
        &[Run(Base62, 10, 24), Text("-"), Run(Base62, 20, 50)],
        Mixed,
    ),
    context("terraform-token", "Terraform Cloud token", &[".atlasv1."], context::find_terraform_token),
    token("vault-token", "HashiCorp Vault token", &["hvs.", "hvb.", "hvr."], &[Run(Url, 24, 300)], Mixed),
    token(
        "doppler-token",
        "Doppler token",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa."],
        &[Run(Base62, 40, 44)],
        Mixed,
    ),
    // Model providers.
    token("anthropic-key", "Anthropic API key", &["sk-ant-"], &[Run(Url, 32, 200)], Mixed),
    token(
        "openai-key",
        "OpenAI API key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        &[Run(Url, 40, 300)],
        Mixed,
    ),
    token("openai-key", "OpenAI API key, older form", &["sk-"], &[Run(Base62, 32, 64)], Mixed),
    token("openrouter-key", "OpenRouter API key", &["sk-or-v1-"], &[Run(Hex, 64, 64)], Varied),
    token("huggingface-token", "Hugging Face token", &["hf_"], &[Run(Base62, 34, 40)], Mixed),
    token("groq-key", "Groq API key", &["gsk_"], &[Run(Base62, 52, 52)], Mixed),
    token("xai-key", "xAI API key", &["xai-"], &[Run(Base62, 70, 90)], Mixed),
    token("perplexity-key", "Perplexity API key", &["pplx-"], &[Run(Base62, 40, 56)], Mixed),
    token("replicate-token", "Replicate API token", &["r8_"], &[Run(Base62, 37, 37)], Mixed),
    // Chat, mail and telephony.
    token(
        "slack-token",
        "Slack token",
        &["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xoxe.xoxp-", "xapp-"],
        &[Run(Url, 24, 300)],
        Varied,
    ),
    value(
        "slack-webhook",
        "address that posts to a Slack channel",
        &["hooks.slack.com/services/", "hooks.slack.com/workflows/"],
        &[Text("T"), Run(Capitals, 8, 12), Text("/"), Run(Capitals, 8, 12), Text("/"), Run(Base62, 18, 30)],
        Varied,
    ),
    value(
        "discord-webhook",
        "address that posts to a Discord channel",
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        &[Run(Digits, 17, 20), Text("/"), Run(Url, 60, 80)],
        Mixed,
    ),
    token(
        "discord-token",
        "Discord bot token",
        &["MT", "MD", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"],
        &[Run(Url, 21, 26), Text("."), Run(Url, 6, 6), Text("."), Run(Url, 27, 40)],
        Mixed,
    ),
    context("telegram-token", "Telegram bot token", &[":AA"], context::find_telegram_token),
    token("twilio-key", "Twilio API key or account", &["SK", "AC"], &[Run(Hex, 32, 32)], Varied),
    token(
        "sendgrid-key",
        "SendGrid API key",
        &["SG."],
        &[Run(Url, 22, 22), Text("."), Run(Url, 43, 43)],
        Mixed,
    ),
    token("mailgun-key", "Mailgun API key", &["key-"], &[Run(Hex, 32, 32)], Varied),
    // Payments and shops.
    token("stripe-key", "Stripe live key", &["sk_live_", "rk_live_"], &[Run(Base62, 20, 250)], Mixed),
    token("stripe-webhook-secret", "Stripe webhook secret", &["whsec_"], &[Run(Any64, 32, 80)], Mixed),
    token(
        "square-token",
        "Square access token or secret",
        &["sq0atp-", "sq0csp-"],
        &[Run(Url, 22, 43)],
        Mixed,
    ),
    token(
        "shopify-token",
        "Shopify access token or secret",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        &[Run(Hex, 32, 32)],
        Varied,
    ),
    // Productivity and monitoring.
    token("atlassian-token", "Atlassian API token", &["ATATT3"], &[Run(Any64, 150, 250)], Mixed),
    token("linear-key", "Linear API key", &["lin_api_", "lin_oauth_"], &[Run(Base62, 40, 64)], Mixed),
    token("notion-token", "Notion integration token", &["ntn_"], &[Run(Base62, 40, 50)], Mixed),
    token(
        "notion-token",
        "Notion integration token, older form",
        &["secret_"],
        &[Run(Base62, 43, 43)],
        Mixed,
    ),
    token("figma-token", "Figma access token", &["figd_"], &[Run(Url, 36, 64)], Mixed),
    token(
        "airtable-token",
        "Airtable access token",
        &["pat"],
        &[Run(Base62, 14, 14), Text("."), Run(Hex, 64, 64)],
        Mixed,
    ),
    token("sentry-token", "Sentry organisation token", &["sntrys_"], &[Run(Any64, 80, 500)], Mixed),
    token("sentry-token", "Sentry user token", &["sntryu_"], &[Run(Hex, 64, 64)], Varied),
    token(
        "grafana-token",
        "Grafana service account token",
        &["glsa_"],
        &[Run(Base62, 32, 32), Text("_"), Run(Hex, 8, 8)],
        Mixed,
    ),
    token("grafana-token", "Grafana Cloud token", &["glc_"], &[Run(Any64, 40, 500)], Mixed),
    token("newrelic-key", "New Relic user key", &["NRAK-"], &[Run(Capitals, 27, 27)], Varied),
    token(
        "onepassword-token",
        "1Password service account token",
        &["ops_eyJ"],
        &[Run(Url, 200, 2000)],
        Mixed,
    ),
    // Keys.
    context("private-key", "private key in PEM", &["-----BEGIN "], context::find_private_key),
    context(
        "google-service-account",
        "private key of a Google service account",
        &["-----BEGIN "],
        context::find_service_account_key,
    ),
    token("age-key", "age secret key", &["AGE-SECRET-KEY-1"], &[Run(Capitals, 58, 58)], Varied),
    context("jwt", "JSON Web Token", &["eyJ"], context::find_jwt),
    // Secrets that are recognized only by their surrounding text.
    guess(
        "authorization",
        "what an Authorization header carries",
        &["Authorization", "authorization", "AUTHORIZATION"],
        context::find_authorization,
    ),
    guess("url-password", "password in an address", &["://"], context::find_url_password),
    guess(
        "assigned-secret",
        "value of something called password, secret, token or key",
        &[
            "password", "PASSWORD", "Password", "passwd", "PASSWD", "Passwd", "secret", "SECRET", "Secret",
            "token", "TOKEN", "Token", "api_key", "API_KEY", "api-key", "API-KEY", "Api-Key", "apikey",
            "APIKEY", "apiKey", "ApiKey",
        ],
        context::find_assigned_secret,
    ),
];

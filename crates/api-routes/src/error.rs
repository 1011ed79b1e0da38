// SPDX-License-Identifier: Apache-2.0 OR MIT

//! API errors. This is the one place that maps errors to status codes.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tenterhook_api::{ErrorDetail, ErrorResponse, FileProblem, PolicyValidation};
use tenterhook_authority::AuthorityRefusal;
use tenterhook_error::{ErrorKind, Failure};
use tokio::task::JoinError;

/// Error response to a failed request.
#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    body: Box<ErrorResponse>,
}

impl ApiError {
    /// Creates an error with a status.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let error = ErrorDetail { message: message.into(), hint: None };
        Self { status, body: Box::new(ErrorResponse { error, validation: None, problems: None }) }
    }

    /// Sets the hint that says what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.body.error.hint = Some(hint.into());
        self
    }

    /// Returns a 400 error: the request is invalid.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Returns a 403 error: the caller may not do this.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// Returns a 404 error: the resource does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// Returns a 409 error: the operation conflicts with the current state.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    /// Returns a 422 error: the content cannot be used.
    pub fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// Returns a 503 error: the server is busy.
    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
    }

    /// Returns a 500 error: the server failed.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// Returns an error for request content that cannot be used.
    pub fn unusable_content(failure: Failure) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, ..Self::from(failure) }
    }

    /// Returns an error for a policy that cannot be used.
    pub fn unusable_policy() -> Self {
        Self::unprocessable("the policy has rules that cannot be used")
            .hint("see `problems` for their positions")
    }

    /// Adds the result of checking a policy.
    #[must_use]
    pub fn validation(mut self, validation: PolicyValidation) -> Self {
        self.body.validation = Some(validation);
        self
    }

    /// Adds problems in files.
    #[must_use]
    pub fn problems(mut self, problems: Vec<FileProblem>) -> Self {
        self.body.problems = Some(problems);
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(*self.body)).into_response()
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        let Failure { kind, message, hints } = failure;
        let error = Self::new(status_of(kind), message);
        hints.into_iter().take(1).fold(error, Self::hint)
    }
}

impl From<AuthorityRefusal> for ApiError {
    fn from(refused: AuthorityRefusal) -> Self {
        Self::forbidden(refused.why).hint(refused.hint)
    }
}

impl From<JoinError> for ApiError {
    fn from(error: JoinError) -> Self {
        Self::internal(error.to_string())
    }
}

/// Returns the HTTP status for an error kind.
fn status_of(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::User => StatusCode::BAD_REQUEST,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::Conflict => StatusCode::CONFLICT,
        ErrorKind::Busy => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Denied => StatusCode::FORBIDDEN,
        ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Runs work that may wait for the disk on a blocking thread.
pub async fn run_blocking<T, E>(work: impl FnOnce() -> Result<T, E> + Send + 'static) -> Result<T, ApiError>
where
    T: Send + 'static,
    E: Send + 'static,
    ApiError: From<E>,
{
    Ok(tokio::task::spawn_blocking(work).await??)
}

//! Authentication schemes of callers, in the OpenAPI document.

use utoipa::openapi::{
    Content, ContentBuilder, OpenApi, Ref, RefOr, Response, ResponseBuilder,
    path::{Operation, PathItem},
    security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
};

const JSON: &str = "application/json";
const PROBLEM: &str = "application/problem+json";
/// Paths for everybody.
const OPEN: [&str; 9] = [
    "/alive",
    "/healthz",
    "/readyz",
    "/api/v1/health",
    "/api/v1/session",
    "/api/v1/session/csrf",
    "/api/v1/session/link",
    "/api/v1/session/password",
    "/api/v1/sign-in-links",
];

/// Adds tokens and sessions, and the answers to callers that lack a permission.
pub fn describe(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    components.add_security_scheme("token", SecurityScheme::Http(token));
    let cookie =
        ApiKeyValue::with_description("oasis-session-PORT", "`oasis-session` without a port in `Host`");
    components.add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
    for (_, item) in document.paths.paths.iter_mut() {
        let answers = operations(item).into_iter().flatten();
        answers.flat_map(|operation| operation.responses.responses.values_mut()).for_each(name_problem);
    }
    for (_, item) in document.paths.paths.iter_mut().filter(|(path, _)| !OPEN.contains(&path.as_str())) {
        operations(item).into_iter().flatten().for_each(protect);
    }
}

fn operations(item: &mut PathItem) -> [Option<&mut Operation>; 5] {
    let PathItem { get, post, put, patch, delete, .. } = item;
    [get.as_mut(), post.as_mut(), put.as_mut(), patch.as_mut(), delete.as_mut()]
}

/// This host needs neither, so both are optional.
fn protect(operation: &mut Operation) {
    let scheme = |name: &str| SecurityRequirement::new::<_, [&str; 0], &str>(name, []);
    operation.security = Some(vec![SecurityRequirement::default(), scheme("token"), scheme("session")]);
    for (status, description) in [("401", "sign in, or send a token"), ("403", "a permission is missing")] {
        let answers = &mut operation.responses.responses;
        answers.entry(status.to_owned()).or_insert_with(|| RefOr::T(problem(description)));
    }
}

/// Problems have a media type of their own; the macros write that of JSON.
fn name_problem(answer: &mut RefOr<Response>) {
    let RefOr::T(answer) = answer else { return };
    let problem = Ref::from_schema_name("Problem");
    let is_problem = |content: &RefOr<Content>| match content {
        RefOr::T(Content { schema: Some(RefOr::Ref(known)), .. }) => *known == problem,
        _ => false,
    };
    if answer.content.get(JSON).is_some_and(is_problem)
        && let Some(content) = answer.content.shift_remove(JSON)
    {
        answer.content.insert(PROBLEM.to_owned(), content);
    }
}

fn problem(description: &str) -> Response {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    ResponseBuilder::new().description(description).content(PROBLEM, content).build()
}

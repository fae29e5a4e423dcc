//! Users, tokens and roles over HTTP, and what of it the audit log keeps.

use super::{
    people::{PEOPLE, Person},
    session::{Signed, code},
    world::json,
};
use axum::{body::Body, http::Method, http::Response};
use serde_json::{Value, json};

const PASSWORD: &str = "another horse battery";

fn admin() -> &'static Person {
    PEOPLE.iter().find(|person| person.name == "admin").unwrap()
}

async fn admin_request(signed: &Signed, method: &str, path: &str, body: Value) -> Response<Body> {
    signed.world.request(admin(), method, &format!("/api/v1/{path}"), &body.to_string()).await
}

async fn done(signed: &Signed, method: &str, path: &str, body: Value) -> Value {
    let answer = admin_request(signed, method, path, body).await;
    let status = answer.status();
    let document = json(answer).await;
    assert!(status.is_success(), "{method} {path}: {status} {document}");
    document
}

#[tokio::test]
async fn an_administrator_manages_users_tokens_and_roles() {
    let signed = Signed::new();
    let rules = json!({"rules": ["read plant-7/*", "command:enable */pump"]});
    let preview = done(&signed, "POST", "roles/preview", rules.clone()).await;
    assert_eq!((&preview["sees"], &preview["total"]), (&json!(2), &json!(3)), "{preview}");
    assert_eq!(preview["verbs"], json!(["read-live", "read-past", "command:enable"]));
    done(&signed, "PUT", "roles/shifter", rules).await;
    done(&signed, "POST", "users", json!({"name": "bob", "password": PASSWORD, "roles": ["shifter"]})).await;
    done(&signed, "PATCH", "users/bob", json!({"roles": ["viewer", "shifter"]})).await;
    let users = done(&signed, "GET", "users", Value::Null).await;
    let bob = users["users"].as_array().unwrap().iter().find(|user| user["name"] == "bob").unwrap();
    assert_eq!((&bob["roles"], &bob["has_password"]), (&json!(["shifter", "viewer"]), &json!(true)));
    assert!(!users.to_string().contains("argon2"), "{users}");

    let request =
        json!({"name": "wall", "roles": ["viewer"], "owner": "bob", "embed": true, "scope": ["read mill/*"]});
    let made = done(&signed, "POST", "tokens", request).await;
    let (id, token) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    let bearer = format!("Bearer {token}");
    let nodes = signed.send(Method::GET, "/api/v1/nodes", &[("authorization", &bearer)], Value::Null).await;
    assert_eq!(json(nodes).await["nodes"].as_array().unwrap().len(), 1);
    let tokens = done(&signed, "GET", "tokens", Value::Null).await;
    assert!(!tokens.to_string().contains(&token[16..]), "{tokens}");
    done(&signed, "DELETE", &format!("tokens/{id}"), Value::Null).await;
    let refused = signed.send(Method::GET, "/api/v1/nodes", &[("authorization", &bearer)], Value::Null).await;
    assert_eq!(code(refused).await, (401, "/problems/bad_token".into()));

    let problem = async |method, path, body| code(admin_request(&signed, method, path, body).await).await;
    let unused = json!({"name": "bob", "password": PASSWORD, "roles": []});
    assert_eq!(problem("POST", "users", unused).await, (409, "/problems/account_conflict".into()));
    let weak = json!({"name": "eva", "password": "short", "roles": []});
    assert_eq!(problem("POST", "users", weak).await, (422, "/problems/bad_password".into()));
    assert_eq!(
        problem("DELETE", "roles/shifter", Value::Null).await,
        (409, "/problems/account_conflict".into())
    );
    assert_eq!(
        problem("PUT", "roles/admin", json!({"rules": ["*"]})).await,
        (422, "/problems/bad_account".into())
    );
    assert_eq!(
        problem("PATCH", "users/none", json!({"roles": []})).await,
        (404, "/problems/unknown_account".into())
    );
    for body in [json!({}), json!({"password": "short"})] {
        assert_eq!(problem("PATCH", "users/none", body).await, (404, "/problems/unknown_account".into()));
    }
    assert_eq!(
        problem("DELETE", "users/none/sessions", Value::Null).await,
        (404, "/problems/unknown_account".into())
    );
    done(&signed, "PATCH", "users/bob", json!({})).await;
    let past = json!({"name": "old", "roles": ["viewer"], "expires": "2020-01-01T00:00:00Z"});
    assert_eq!(problem("POST", "tokens", past).await, (422, "/problems/bad_account".into()));
    done(&signed, "DELETE", "users/bob", Value::Null).await;

    let records = signed.records();
    let text = serde_json::to_string(&records).unwrap();
    assert!(!text.contains(PASSWORD) && !text.contains(&token[16..]), "a secret is recorded");
    for action in ["role:set", "user:add", "user:set-roles", "token:create", "token:revoke", "user:remove"] {
        let of =
            |result: &str| records.iter().any(|record| record.action == action && record.result == result);
        assert!(of("begun") && of("done"), "{action}");
    }
    // The revoked token was shown once more.
    let others: Vec<_> = records.iter().filter(|record| record.principal != "program:admin").collect();
    assert!(others.len() == 1 && others[0].action == "token", "{others:?}");
}

#[tokio::test]
async fn people_change_their_password_and_sign_in_again() {
    let signed = Signed::new();
    let (cookie, csrf) = signed.sign_in("eve").await;
    let with_both = [("cookie", cookie.as_str()), ("x-csrf-token", csrf.as_str())];
    let change = async |headers: &[(&str, &str)], present: &str, new: &str| {
        let body = json!({"present": present, "new": new});
        code(signed.send(Method::PUT, "/api/v1/session/password", headers, body).await).await
    };
    let present = "correct horse battery";
    assert_eq!(change(&with_both[..1], present, PASSWORD).await, (403, "/problems/csrf".into()));
    assert_eq!(change(&[], present, PASSWORD).await, (401, "/problems/no_session".into()));
    assert_eq!(change(&with_both, "wrong", PASSWORD).await, (401, "/problems/wrong_password".into()));
    assert_eq!(change(&with_both, present, "short").await, (422, "/problems/bad_password".into()));
    assert_eq!(change(&with_both, present, PASSWORD).await, (204, String::new()));
    let nodes = signed.send(Method::GET, "/api/v1/nodes", &with_both[..1], Value::Null).await;
    assert_eq!(code(nodes).await, (401, "/problems/session_ended".into()));

    // An administrator ends the sessions of a user.
    let (cookie, _) = signed.sign_in("ada").await;
    assert_eq!(done(&signed, "DELETE", "users/ada/sessions", Value::Null).await["sessions"], 1);
    let nodes = signed.send(Method::GET, "/api/v1/nodes", &[("cookie", &cookie)], Value::Null).await;
    assert_eq!(code(nodes).await, (401, "/problems/session_ended".into()));
}

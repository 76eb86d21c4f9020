import Foundation
import TestSupport
import Testing

@testable import Console

/// Changes of schemas, users, keys and zones from pages, by the real command beside a real server.
@Suite(.timeLimit(.minutes(10)))
struct ChangeTests {
    private static let container = ServedConsole.container
    private static let development = ServedConsole.development
    private static let production = ServedConsole.production
    private static let own = ServedConsole.own

    private static let schema = """
        DEFINE SCHEMA
        CREATE ROLE editor;
        RECORD TYPE Note (
            title STRING QUERYABLE
        );
        """

    // MARK: Schemas

    @Test
    func `a schema is edited with its errors by line, reviewed and saved`() async throws {
        let it = try await ServedConsole.start()
        let editor = try await it.client.get(Self.development + "/schema/edit").body
        let wrong = Self.schema.replacing("QUERYABLE", with: "QUERYBLE")
        let fault = try await it.submit("/schema/review", of: editor, [("schema", wrong)])
        #expect(fault.status == 400)
        #expect(fault.body.contains("Encountered"))
        #expect(fault.body.contains("line 4, column 18"))
        #expect(fault.body.contains("data-line=\"4\" data-column=\"18\""))
        #expect(fault.body.contains("4 │ <bdi>    title STRING QUERYBLE</bdi>\n                     <span"))
        #expect(fault.body.contains("title STRING QUERYBLE"), "the text is not lost")
        let review = try await it.submit(
            "/schema/review",
            of: fault.body,
            [("schema", Self.schema.replacing("\n", with: "\r\n"))]
        )
        #expect(review.status == 200)
        #expect(review.body.contains("RECORD TYPE Note"))
        #expect(review.body.contains("CREATE ROLE editor"))
        let saved = try await it.submit("/schema/save", of: review.body)
        #expect(saved.status == 303)
        let text = try await it.server.administer(["schema", "export", "--container", Self.container])
        #expect(text.contains(/title +STRING QUERYABLE/))
        let same = try await it.submit("/schema/review", of: editor, [("schema", text)])
        #expect(same.body.contains("Nothing to save"))
        await it.end()
    }

    @Test
    func `a deploy asks again with the name of the container, and is written down`() async throws {
        let it = try await ServedConsole.start()
        let editor = try await it.client.get(Self.development + "/schema/edit").body
        let review = try await it.submit("/schema/review", of: editor, [("schema", Self.schema)])
        _ = try await it.submit("/schema/save", of: review.body)
        let deploy = try await it.client.get(Self.production + "/schema/deploy").body
        #expect(deploy.contains("data-environment=\"production\""))
        #expect(deploy.contains("<strong>0 records</strong> in 0 databases"))
        let unsure = try await it.submit("/schema/deploy", of: deploy, [("confirm", "yes")])
        #expect(unsure.status == 400)
        #expect(unsure.body.contains("Nothing was changed"))
        let before = try await it.server.administer([
            "schema", "export", "--container", Self.container, "--environment", "production",
        ])
        #expect(!before.contains("Note"))
        let deployed = try await it.submit("/schema/deploy", of: deploy, [("confirm", Self.container)])
        #expect(deployed.status == 303)
        let after = try await it.server.administer([
            "schema", "export", "--container", Self.container, "--environment", "production",
        ])
        #expect(after.contains(/title +STRING QUERYABLE/))
        #expect(
            try await it.client.get(Self.production + "/schema/deploy").body.contains("Nothing to deploy")
        )
        // Fields of production may not go.
        let removed = try await it.submit("/schema/review", of: editor, [("schema", "DEFINE SCHEMA\n")])
        #expect(removed.status == 409)
        #expect(removed.body.contains("the record type Note would be removed"))
        let audit = try await it.client.get(Self.production + "/audit").body
        #expect(audit.contains("deploy the schema of development to production"))
        #expect(audit.contains("replace the schema of development"))
        #expect(audit.matches(of: /state good">done/).count == 2)
        // A page of one environment is none of the other.
        #expect(try await it.client.get(Self.production + "/schema/edit").status == 404)
        #expect(try await it.client.get(Self.development + "/schema/deploy").status == 404)
        let errors = await it.end()
        #expect(errors.contains("used the console to deploy the schema of development to production"))
    }

    @Test
    func `a reset names what it deletes, and deletes it`() async throws {
        let it = try await ServedConsole.start()
        try await it.importRecords(
            #"{"recordName":"a","recordType":"Note","fields":{"title":{"value":"x"}}}"#
        )
        let page = try await it.client.get(Self.development + "/schema/reset").body
        #expect(page.contains("<strong>3 records</strong> in 2 databases"))
        #expect(try await it.submit("/schema/reset", of: page).status == 400)
        #expect(try await it.exportRecords(["--type", "Note"]).contains("\"a\""))
        let done = try await it.submit("/schema/reset", of: page, [("confirm", Self.container)])
        #expect(done.status == 303)
        #expect(try await it.exportRecords(["--type", "Note"]).isEmpty)
        await it.end()
    }

    // MARK: Users

    @Test
    func `users get tokens, contacts and roles, and go, each change written down`() async throws {
        let it = try await ServedConsole.start()
        let editor = try await it.client.get(Self.development + "/schema/edit").body
        let review = try await it.submit("/schema/review", of: editor, [("schema", Self.schema)])
        _ = try await it.submit("/schema/save", of: review.body)
        let add = try await it.client.get(Self.development + "/users/add").body
        let added = try await it.submit("/users/add-user", of: add, [("name", "bob")])
        #expect(added.status == 200)
        #expect(added.fields["cache-control"] == "no-store")
        let token = try #require(added.body.firstMatch(of: /<pre id="made"[^>]*>([^<]+)<\/pre>/)).1
        let twice = try await it.submit("/users/add-user", of: add, [("name", "bob")])
        #expect(twice.status == 409)
        #expect(twice.body.contains("exists already"))
        let path = Self.development + "/users/user?name=bob"
        var page = try await it.client.get(path).body
        #expect(!page.contains(token), "a token is shown once")
        let role = try await it.submit("/users/give-role", of: page, [("role", "editor")])
        #expect(role.status == 303)
        #expect(role.fields["location"] == path)
        let contacts = try await it.submit(
            "/users/contacts",
            of: page,
            [("contacts", "bob@example.org\r\n +49 30 1234 ")]
        )
        #expect(contacts.status == 303)
        page = try await it.client.get(path).body
        #expect(page.contains("Has the role <bdi>editor</bdi>"))
        #expect(page.contains("bob@example.org"))
        let bad = try await it.submit("/users/contacts", of: page, [("contacts", "nothing")])
        #expect(bad.status == 400)
        #expect(try await it.submit("/users/take-role", of: page).status == 303)
        #expect(!(try await it.client.get(path).body.contains("Has the role")))
        // The end of somebody's access needs the name, in development too.
        #expect(try await it.submit("/users/revoke", of: page).status == 400)
        #expect(try await it.submit("/users/revoke", of: page, [("confirm", "bob")]).status == 303)
        #expect(try await it.client.get(path).body.contains("state bad\">revoked"))
        let renewed = try await it.submit("/users/renew", of: page, [("confirm", "bob")])
        #expect(renewed.body.contains("<pre id=\"made\""))
        let delete = try await it.client.get(Self.development + "/users/delete?name=bob").body
        #expect(delete.contains("Records"))
        #expect(try await it.submit("/users/delete", of: delete, [("confirm", "alice")]).status == 400)
        #expect(try await it.submit("/users/delete", of: delete, [("confirm", "bob")]).status == 303)
        #expect(try await it.client.get(path).status == 404)
        let audit = try await it.client.get(Self.development + "/audit").body
        for text in [
            "add the user bob", "give bob the role editor", "set 2 contacts of bob",
            "revoke the tokens of bob",
            "give bob a new token", "delete bob with all private data", "exists already",
        ] { #expect(audit.contains(text), "\(text)") }
        #expect(!audit.contains(token))
        await it.end()
        let file = try String(contentsOfFile: it.server.dataPath + "/console.log", encoding: .utf8)
        #expect(!file.contains(token))
    }

    @Test
    func `services get keys that are shown once, and lose them`() async throws {
        let it = try await ServedConsole.start()
        let add = try await it.client.get(Self.production + "/users/add").body
        let unsure = try await it.submit("/users/add-key", of: add, [("name", "shop"), ("for", "alice")])
        #expect(unsure.status == 400, "in production the container's name is typed")
        let added = try await it.submit(
            "/users/add-key",
            of: add,
            [("name", "shop"), ("for", "alice"), ("readonly", "yes"), ("confirm", Self.container)]
        )
        #expect(added.body.contains("BEGIN PRIVATE KEY"))
        let nobody = try await it.submit(
            "/users/add-key",
            of: add,
            [("name", "shop"), ("for", "nobody"), ("confirm", Self.container)]
        )
        #expect(nobody.status == 409)
        #expect(nobody.body.contains("nobody is not a user of"))
        let path = Self.development + "/users/user?name=shop"
        let page = try await it.client.get(path).body
        #expect(!page.contains("PRIVATE KEY"))
        #expect(page.contains("alice"))
        let revoked = try await it.submit("/users/revoke-keys", of: page, [("confirm", "shop"), ("key", "")])
        #expect(revoked.status == 303)
        #expect(try await it.client.get(path).body.contains("state bad\">revoked"))
        let keys = try await it.server.administer(["key", "list", "--container", Self.container])
        #expect(keys.contains("revoked"))
        await it.end()
    }

    // MARK: Zones

    @Test
    func `a zone is deleted through the server after its counts were shown`() async throws {
        let it = try await ServedConsole.start()
        try await it.importRecords(
            """
            {"recordName":"a","recordType":"Note","zoneID":{"zoneName":"<desk>"},"fields":{"title":{"value":"x"}}}
            {"recordName":"b","recordType":"Note","zoneID":{"zoneName":"<desk>"},"fields":{"title":{"value":"y"}}}
            """
        )
        let zones = try await it.client.get(Self.development + "/zones?\(Self.own)").body
        let link = try #require(zones.firstMatch(of: /href="([^"]*zones\/delete[^"]*)"/)).1.unescaped
        let page = try await it.client.get(link).body
        #expect(page.contains("<dt>Records</dt><dd>2</dd>"))
        #expect(page.contains("<bdi>&lt;desk&gt;</bdi>"))
        #expect(try await it.submit("/zones/delete", of: page, [("confirm", "desk")]).status == 400)
        #expect(try await it.submit("/zones/delete", of: page, [("confirm", "<desk>")]).status == 303)
        #expect(!(try await it.exportRecords(["--type", "Note"]).contains("recordName")))
        #expect(try await it.client.get(link).status == 400)
        let base = Self.development + "/zones/delete?"
        #expect(try await it.client.get(base + "\(Self.own)&zone=_defaultZone").status == 400)
        #expect(try await it.client.get(base + "zone=x").status == 400)
        // Without a server nothing is deleted, and the page says how to start one.
        try await it.importRecords(
            #"{"recordName":"a","recordType":"Note","zoneID":{"zoneName":"desk"},"fields":{"title":{"value":"x"}}}"#
        )
        let last = try await it.client.get(base + "\(Self.own)&zone=desk").body
        _ = await it.server.end(SIGTERM)
        let refused = try await it.submit("/zones/delete", of: last, [("confirm", "desk")])
        #expect(refused.status == 409)
        #expect(try await it.exportRecords(["--type", "Note"]).contains("\"desk\""))
        let audit = try await it.client.get(Self.development + "/audit").body
        #expect(audit.contains("delete the zone &lt;desk&gt; of alice"))
        #expect(audit.contains("state bad\">refused"))
        it.console.signal(SIGTERM)
        _ = await it.console.outcome()
    }

    // MARK: Checks

    @Test
    func `no change is made without the secret, from elsewhere, or without a name that is due`() async throws
    {
        let it = try await ServedConsole.start()
        let paths =
            ["/schema/review", "/schema/save", "/schema/reset", "/records/import", "/records/import/commit"]
            + UserAction.allCases.map { "/users/" + $0.rawValue } + ["/zones/delete"]
            + ShareAction.allCases.map { "/share/" + $0.rawValue }
        let page = try await it.client.get(Self.development + "/users/add").body
        let secret = try #require(page.firstMatch(of: /name="secret" value="(\w+)"/)).1
        let before = try await it.server.administer(["user", "list", "--container", Self.container])
        for path in paths {
            let url = Self.development + path + "?\(Self.own)"
            let form = "name=mallory&zone=desk&role=editor&contacts=&records=%7B%7D"
            #expect(try await it.client.post(url, form).status == 403, "\(path)")
            let whole = form + "&secret=\(secret)"
            let other = ["Origin": "http://evil.example"]
            #expect(try await it.client.post(url, whole, other).status == 403, "\(path)")
            let site = ["Sec-Fetch-Site": "cross-site"]
            #expect(try await it.client.post(url, whole, site).status == 403, "\(path)")
            var stranger = it.client
            stranger.cookie = nil
            #expect(try await stranger.post(url, whole).status == 401, "\(path)")
        }
        let file = Self.development + "/records/import/file?\(Self.own)"
        #expect(try await it.client.post(file, "{}").status == 403)
        for path in ["/users/add-user", "/users/give-role", "/users/contacts", "/records/import/commit"] {
            let response = try await it.client.post(
                Self.production + path + "?\(Self.own)",
                "name=mallory&role=editor&upload=x&secret=\(secret)"
            )
            #expect(response.status == 400, "\(path)")
            #expect(response.body.contains("Nothing was changed"), "\(path)")
        }
        #expect(
            try await it.server.administer(["user", "list", "--container", Self.container]) == before
        )
        #expect(try await it.client.get(Self.development + "/audit").body.contains("Nobody has changed"))
        await it.end()
    }
}

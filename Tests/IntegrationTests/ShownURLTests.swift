import Foundation
import PostgreSQLEngine
import TestSupport
import Testing

@testable import tidemark

/// A password in an address is printed nowhere, however wrongly the address is written.
@Suite(.timeLimit(.minutes(10)))
struct ShownURLTests {
    private static let malformed = [
        "postgresql://tm:aSECRET@bSECRET@127.0.0.1:1/db", "postgresql:/tm:SECRET@127.0.0.1:1/db",
        "postgresql://tm:a/SECRET@127.0.0.1:1/db", "postgresql://tm:SECRET/db", "tm:SECRET@127.0.0.1:1/db",
        "postgresql://tm:SECRET%zz@127.0.0.1:1/db", "postgresql:tm:SECRET@127.0.0.1",
        "host=127.0.0.1 port=1 password='a SECRET", "postgres://tm:SECRET@[::1/db",
        "postgresql://tm:SECRET@127.0.0.1:1/db?nope=1", "postgresql://tm:SECRET@127.0.0.1:x/db",
    ]

    @Test(arguments: Self.malformed)
    func `a malformed URL of a database is refused without its password`(url: String) async throws {
        let directory = try TemporaryDirectory()
        let outcome = try await ChildProcess.tidemark(
            "serve",
            "--data",
            directory.path + "/data",
            "--listen",
            "127.0.0.1:0",
            "--engine",
            "postgres",
            "--database-url",
            url
        )
        #expect(outcome.exitCode == 64, "\(outcome)")
        #expect(!(outcome.output + outcome.errors).contains("SECRET"), "\(outcome)")
        #expect(!DatabaseURL(text: url).shown.contains("SECRET"))
    }

    @Test(
        arguments: [
            (
                "postgresql://tm:SECRET@host:5432/db?sslmode=require",
                "postgresql://tm:***@host:5432/db?sslmode=require"
            ),
            ("postgres://tm@host/db", "postgres://tm@host/db"),
            ("postgresql://[::1]:5432/db", "postgresql://[::1]:5432/db"),
            ("postgresql://a:1,b:2/db", "postgresql://a:1,b:2/db"), ("postgresql:///db", "postgresql:///db"),
            ("postgresql://host/db?password=SECRET&user=tm", "postgresql://host/db?password=***&user=tm"),
            ("postgresql://host/db?p%61ssword=SECRET", "postgresql://host/db?p%61ssword=***"),
            ("host=h user=tm password = 'a \\' SECRET' port=1", "host=h user=tm password = *** port=1"),
            ("postgresql://tm:a@SECRET@host/db", "postgresql://tm:***@host/db"),
            ("postgresql:/tm:SECRET@host/db", "postgresql:/tm:***@host/db"),
            ("tm:SECRET@host/db", "tm:***@host/db"),
        ]
    )
    func `a URL of a database is shown without its password`(url: String, shown: String) {
        #expect(DatabaseURL(text: url).shown == shown)
    }

    @Test func `a wrong parameter of a URL is named`() {
        let error = #expect(throws: PostgreSQLError.self) {
            try ConnectionTarget("postgresql://tm:SECRET@host/db?sslmod=require")
        }
        #expect(error?.message.contains("sslmod") == true && error?.message.contains("SECRET") == false)
    }

    @Test(arguments: ["tidemark-listen", "tidemark-load"])
    func `a program does not print the password of a server's address`(program: String) async throws {
        let arguments = program == "tidemark-load" ? ["mix", "--token", "t"] : ["--zone", "desk"]
        let outcome = try await ChildProcess.run(
            ChildProcess.buildFolder.appendingPathComponent(program),
            arguments,
            environment: [
                "TIDEMARK_URL": "tidemark:/tm:SECRET@host", "TIDEMARK_TOKEN": "t",
                "TIDEMARK_CONTAINER": "iCloud.a",
            ]
        )
        #expect(outcome.exitCode != 0 && outcome.errors.contains("***@host"), "\(outcome)")
        #expect(!(outcome.output + outcome.errors).contains("SECRET"), "\(outcome)")
    }

    @Test
    func `a listener escapes what a terminal obeys in what it says`() async throws {
        let outcome = try await ChildProcess.run(
            ChildProcess.buildFolder.appendingPathComponent("tidemark-listen"),
            ["--zone", "desk", "--container", "a\u{1B}[2J\u{9B}\r\n\u{202E}"],
            environment: ["TIDEMARK_URL": "tidemark://localhost:1", "TIDEMARK_TOKEN": "t"]
        )
        #expect(outcome.errors.contains(#"a\u001b[2J\u009b\r\n\u202e"#), "\(outcome)")
        #expect(!outcome.errors.unicodeScalars.contains("\u{1B}"), "\(outcome)")
    }
}

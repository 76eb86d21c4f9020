import Crypto
import Foundation
import Testing

@testable import CloudKit

@Suite struct ServerConnectionTests {
    @Test func `a connection is read from the environment`() throws {
        let connection = try CKServerConnection(variables: [
            "TIDEMARK_URL": "tidemark://example.org:7431", "TIDEMARK_TOKEN": "secret",
            "TIDEMARK_CA": "/etc/ca.pem", "TIDEMARK_ENVIRONMENT": "Production",
        ])
        #expect(
            connection
                == CKServerConnection(
                    url: "tidemark://example.org:7431",
                    token: "secret",
                    certificateAuthority: .file("/etc/ca.pem"),
                    environment: .production
                )
        )
        let least = try CKServerConnection(variables: [
            "TIDEMARK_URL": "tidemark://h", "TIDEMARK_TOKEN": "", "TIDEMARK_CA": "",
        ])
        #expect(least == CKServerConnection(url: "tidemark://h"))
    }

    @Test(arguments: [
        ([:], "TIDEMARK_URL"), (["TIDEMARK_URL": ""], "TIDEMARK_URL"),
        (["TIDEMARK_URL": "tidemark://h", "TIDEMARK_ENVIRONMENT": "test"], "TIDEMARK_ENVIRONMENT"),
        (["TIDEMARK_URL": "tidemark://h", "TIDEMARK_ON_BEHALF_OF": "alice"], "TIDEMARK_SERVICE_KEY"),
    ])
    func `what is missing is named`(variables: [String: String], name: String) {
        #expect {
            try CKServerConnection(variables: variables)
        } throws: { error in
            (error as? CKError)?.code == .badContainer
                && (error as? CKError)?.localizedDescription.contains(name) == true
        }
    }

    @Test func `a service's key and its user are read from the environment`() throws {
        let connection = try CKServerConnection(variables: [
            "TIDEMARK_URL": "tidemark://h", "TIDEMARK_SERVICE_KEY": "/etc/shop.pem",
            "TIDEMARK_ON_BEHALF_OF": "alice",
        ])
        #expect(
            connection.serviceKey
                == CKServerConnection.ServiceKey(.file("/etc/shop.pem"), onBehalfOf: "alice")
        )
        #expect(connection.token == nil)
    }

    @Test func `a connection has one credential, and a key that can be used`() throws {
        func refusal(_ change: (inout CKServerConnection) -> Void) -> String {
            var connection = CKServerConnection(url: "tidemark://h")
            change(&connection)
            do {
                _ = try connection.clientConfiguration(container: "org.example")
                return ""
            } catch {
                #expect(error.code == .badContainer)
                return error.localizedDescription
            }
        }
        let pem = P256.Signing.PrivateKey().pemRepresentation
        #expect(refusal { $0.serviceKey = .init(.pem(pem)) } == "")
        let provider = CKServerConnection.TokenProvider { "token" }
        #expect(refusal { $0.tokenProvider = provider } == "")
        for both: (inout CKServerConnection) -> Void in [
            {
                $0.token = "a"; $0.serviceKey = .init(.pem(pem))
            },
            {
                $0.token = "a"; $0.tokenProvider = provider
            },
            {
                $0.serviceKey = .init(.pem(pem)); $0.tokenProvider = provider
            },
        ] {
            #expect(refusal(both).contains("takes one credential"))
        }
        #expect(refusal { $0.serviceKey = .init(.file("/none.pem")) }.contains("/none.pem"))
        let publicPEM = P256.Signing.PrivateKey().publicKey.pemRepresentation
        #expect(refusal { $0.serviceKey = .init(.pem(publicPEM)) }.contains("P-256"))
        #expect(refusal { $0.serviceKey = .init(.pem("")) }.contains("P-256"))
    }

    @Test(arguments: [
        "tmk_secret\n", "-----BEGIN PRIVATE KEY-----\nMIGH\n", String(repeating: "a", count: 2_000),
    ])
    func `a token that can't work is an error before there is a connection`(token: String) {
        #expect {
            _ = try CKServerConnection(url: "tidemark://h", token: token)
                .clientConfiguration(container: "org.example")
        } throws: { error in
            let error = error as? CKError
            return error?.code == .badContainer && error?.retryAdvice == .never
                && error?.localizedDescription.contains("TIDEMARK_TOKEN") == true
        }
    }

    @Test func `copies of a token provider are one, so that containers share a connection`() {
        let provider = CKServerConnection.TokenProvider { "token" }
        let copy = provider
        #expect(provider == copy)
        #expect(provider.hashValue == copy.hashValue)
        #expect(provider != CKServerConnection.TokenProvider { "token" })
    }

    @Test(arguments: [
        ("tidemark://example.org", "example.org", 7430), ("tidemark://127.0.0.1:1", "127.0.0.1", 1),
        ("tidemark://h:65535/", "h", 65_535), ("tidemark://[::1]:7431", "::1", 7431),
        ("TIDEMARK://h", "h", 7430),
    ])
    func `an address has a host and a port`(url: String, host: String, port: Int) throws {
        let configuration = try CKServerConnection(url: url).clientConfiguration(container: "org.example")
        #expect(configuration.host == host)
        #expect(configuration.port == port)
        #expect(!configuration.credential.isSignedIn)
        #expect(configuration.installationID.count == 16)
    }

    @Test(arguments: [
        "", "example.org", "example.org:7430", "https://example.org", "tidemark://", "tidemark://:7430",
        "tidemark://h:0", "tidemark://h:65536", "tidemark://h/path", "tidemark://user@h", "tidemark://h?a=b",
        "tidemark://h:port",
    ])
    func `a malformed address is refused with the variable's name`(url: String) {
        #expect {
            try CKServerConnection(url: url).clientConfiguration(container: "org.example")
        } throws: { error in
            (error as? CKError)?.code == .badContainer
                && (error as? CKError)?.localizedDescription.contains("TIDEMARK_URL") == true
        }
    }

    @Test func `an installation keeps its ID, and makes a new one for a broken file`() throws {
        let folder = NSTemporaryDirectory() + "tidemark-test-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let made = InstallationID.load(folder: folder)
        #expect(made.count == 16)
        #expect(InstallationID.load(folder: folder) == made)
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: folder + "/installation"))
        let again = InstallationID.load(folder: folder)
        #expect(again.count == 16 && again != made)
        #expect(InstallationID.load(folder: folder) == again)
    }

    @Test func `an installation that cannot keep its ID has one all the same`() {
        #expect(InstallationID.load(folder: "/dev/null/nowhere").count == 16)
    }

    @Test(arguments: ["app", "/usr/bin/app", "./app"])
    func `the state folder follows the XDG rules, and is the program's`(program: String) {
        func folder(_ variables: [String: String]) -> String {
            InstallationID.stateFolder(variables: variables, program: program)
        }
        #expect(folder(["XDG_STATE_HOME": "/s"]) == "/s/tidemark/app")
        let home = NSHomeDirectory() + "/.local/state/tidemark/app"
        #expect(folder([:]) == home)
        #expect(folder(["XDG_STATE_HOME": "relative"]) == home)
        #expect(folder(["HOME": "/h"]) == "/h/.local/state/tidemark/app")
        #expect(folder(["HOME": "", "XDG_STATE_HOME": ""]) == home)
        #expect(folder(["HOME": "/h", "XDG_STATE_HOME": "/s"]) == "/s/tidemark/app")
        #expect(InstallationID.stateFolder(variables: ["XDG_STATE_HOME": "/s"], program: "") == "/s/tidemark")
    }
}

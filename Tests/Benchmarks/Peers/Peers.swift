import ArgumentParser
import Foundation
import NIOSSL

/// Drives the peers that have no driver of their own: nats-server, and PostgreSQL with listeners.
@main
struct Peers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark-peers",
        subcommands: [NATSFanOut.self, NATSFollow.self, PostgreSQLFollow.self]
    )

    static func print(_ report: some Encodable) throws {
        Swift.print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }
}

enum PeerFault: Error {
    case refused(String)
    case closed
}

extension NIOSSLContext {
    /// TLS 1.3; the certificate is of no concern to a measurement of messages.
    static func ofPeers() throws -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv13
        tls.certificateVerification = .none
        return try NIOSSLContext(configuration: tls)
    }
}

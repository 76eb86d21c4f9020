import ArgumentParser

/// The peer of the rows about assets: the same bytes through NIO and TLS 1.3, with nothing around them.
///
///     client                          server
///     mode, total, message  ------>
///     upload:     total bytes ----->  <-- one byte, when all came
///     download:                       <-- total bytes
///     keep:       messages -------->  <-- one byte each, when it is in a file of its own, and synced
///     store:      total bytes ----->  <-- one byte, when all are hashed, in a file, and synced
///     load:                           <-- total bytes, which the client hashes and writes to a file
///     fetch:      one byte each --->  <-- a message each, which the client writes to a file of its own
///
/// The stored and loaded bytes come from a file; total is a multiple of a MiB. Mode is one byte, total
/// eight and message four, in network byte order. `keep` and `fetch` are repeated until the client
/// closes.
@main
struct BareStream: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark-bare-stream",
        subcommands: [Serve.self, Run.self]
    )
}

/// What a connection does.
enum Mode: UInt8, ExpressibleByArgument, CaseIterable {
    case upload
    case download
    case keep
    case fetch
    case store
    case load

    init?(argument: String) {
        guard let mode = Self.allCases.first(where: { "\($0)" == argument }) else { return nil }
        self = mode
    }
}

/// The first bytes of a connection.
struct Header {
    static let bytes = 13

    var mode: Mode
    /// Bytes of the stream; of no meaning when messages are repeated.
    var total: Int
    var messageBytes: Int
}

import ArgumentParser
import Foundation
import NIOCore
import NIOSSL
import Synchronization

/// The peer of the row `fan-out`: connections that subscribe to one subject of a nats-server, and
/// one that publishes, over TLS 1.3.
///
/// As in `tidemark-load bench fan-out` a few messages are under way at a time, and the next is
/// published when one has come to everybody.
struct NATSFanOut: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "nats-fan-out")

    @Option var port: Int
    @Option(help: "Connections that subscribe.") var connections = 1
    @Option(help: "Bytes of a message.") var messageBytes: Int
    @Option(help: "Messages that have not come to everybody.") var underWay = 8
    @Option(help: "Length of the measurement.") var seconds = 3.0
    @Option(help: "Time before it that does not count.") var warmUpSeconds = 0.3

    struct Report: Encodable {
        /// Messages that came to a subscriber, a second.
        var rate: Double
    }

    func run() async throws {
        let context = try NIOSSLContext.ofPeers()
        let publisher = try await NATSConnection.connect(
            self.port,
            context,
            subscribes: false,
            received: { _ in }
        )
        let message = NATSConnection.publication(of: self.messageBytes)
        let fanOut = FanOut(count: self.connections, messageBytes: self.messageBytes) {
            publisher.writeAndFlush(message, promise: nil)
        }
        for _ in 0..<self.connections {
            _ = try await NATSConnection.connect(self.port, context, subscribes: true) {
                fanOut.received($0)
            }
        }
        for _ in 0..<self.underWay { fanOut.publish() }
        try await Task.sleep(for: .seconds(self.warmUpSeconds))
        let before = fanOut.deliveries
        try await Task.sleep(for: .seconds(self.seconds))
        let report = Report(rate: Double(fanOut.deliveries - before) / self.seconds)
        if let fault = fanOut.fault { throw fault }
        try Peers.print(report)
    }
}

/// Counts what comes, and publishes the next message when as many came as there are connections.
private final class FanOut: Sendable {
    private let count: Int
    private let messageBytes: Int
    private let publishNext: @Sendable () -> Void
    private let delivered = Atomic<Int>(0)
    private let firstFault = Mutex<PeerFault?>(nil)

    init(count: Int, messageBytes: Int, publish: @escaping @Sendable () -> Void) {
        self.count = count
        self.messageBytes = messageBytes
        self.publishNext = publish
    }

    var deliveries: Int { self.delivered.load(ordering: .relaxed) }
    var fault: PeerFault? { self.firstFault.withLock { $0 } }

    func publish() { self.publishNext() }

    func received(_ result: Result<NATSConnection.Message, PeerFault>) {
        switch result {
        case .success(let message) where message.bytes == self.messageBytes:
            if self.delivered.add(1, ordering: .relaxed).newValue.isMultiple(of: self.count) {
                self.publish()
            }
        case .success: self.firstFault.withLock { $0 = $0 ?? .refused("a message of another size") }
        case .failure(let fault): self.firstFault.withLock { $0 = $0 ?? fault }
        }
    }
}

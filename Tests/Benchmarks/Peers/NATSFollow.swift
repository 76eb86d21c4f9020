import ArgumentParser
import NIOCore
import NIOSSL

/// A peer of the row `follow-rate`: messages of the size of a record to all that subscribe.
struct NATSFollow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "nats-follow")

    @OptionGroup var options: FollowedSaves.Options
    @Option(help: "Bytes of a message.") var messageBytes = 536

    func run() async throws {
        let context = try NIOSSLContext.ofPeers()
        let saves = FollowedSaves(self.options)
        let port = self.options.port
        let publisher = try await NATSConnection.connect(port, context, subscribes: false, received: { _ in })
        for _ in 0..<self.options.connections {
            _ = try await NATSConnection.connect(port, context, subscribes: true) { result in
                switch result {
                case .success(let message): saves.arrived([Int(message.number)])
                case .failure(let fault): saves.failed(fault)
                }
            }
        }
        let report = try await saves.run { number in
            let message = NATSConnection.publication(of: self.messageBytes, number: UInt64(number))
            publisher.writeAndFlush(message, promise: nil)
        }
        try Peers.print(report)
    }
}

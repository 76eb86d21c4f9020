import NIOCore
import NIOHTTP1
package import RecordServer

/// CloudKit Web Services: a second way into a server, in JSON over HTTP/1.1.
///
/// Requests become the operations of the binary protocol, and are judged and executed as those are.
package struct WebServices: Sendable {
    private let bounds: WebBounds

    package init(bounds: WebBounds = .defaults) { self.bounds = bounds }

    /// Starts to listen, on the event loops of a server that runs; ends with it.
    ///
    /// - Parameters:
    ///   - socket: The address.
    ///   - isEncrypted: Whether clients speak TLS.
    ///   - server: The server.
    /// - Returns: The port; `nil` for a Unix socket.
    /// - Throws: An error of the system about the socket.
    package func listen(
        on socket: BoundSocket,
        isEncrypted: Bool,
        beside server: RecordServer
    ) async throws -> Int? {
        let bounds = self.bounds
        return try await server.listenBeside(on: socket, isEncrypted: isEncrypted) { channel, door in
            try Self.open(channel, door, bounds: bounds)
        }
    }

    private static func open(_ channel: any Channel, _ door: DoorConnection, bounds: WebBounds) throws {
        let pipeline = channel.pipeline.syncOperations
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = bounds.headBytesMax
        limits.maxHeaderListSize = bounds.headBytesMax
        limits.maxHeaderFieldCount = bounds.fieldsMax
        // Responses to what is not HTTP are `WebConnection`'s, in the form of all errors.
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: true,
            withErrorHandling: false,
            withOutboundHeaderValidation: true,
            withEncoderConfiguration: HTTPResponseEncoder.Configuration(),
            withDecoderLimitConfiguration: limits
        )
        try pipeline.addHandler(WebConnection(door, bounds: bounds))
    }
}

import HTTPTypes
import Hummingbird
import NIOCore

/// Server-sent events of a page that stays open.
enum EventStream {
    static func response(
        _ body: @escaping @concurrent @Sendable (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream; charset=utf-8"],
            body: ResponseBody { writer in
                try await writer.write(ByteBuffer(string: ": begun\n\n"))
                try await body(&writer)
                try await writer.finish(nil)
            }
        )
    }

    /// An event; the ID leads on from it if the connection breaks off.
    static func event(id: String?, _ json: [UInt8]) -> ByteBuffer {
        let head = id.map { "id: \($0)\ndata: " } ?? "data: "
        return ByteBuffer(bytes: Array(head.utf8) + json + Array("\n\n".utf8))
    }
}

/// The time in which a stream had nothing to say.
struct EventSilence: Sendable {
    /// Between two lines that keep the connection from looking dead.
    private static let most = Duration.seconds(15)

    private var time = Duration.zero

    /// A line for the connection if nothing was said for long; `nil` if not.
    mutating func passed(_ time: Duration) -> ByteBuffer? {
        self.time += time
        guard self.time >= Self.most else { return nil }
        self.time = .zero
        return ByteBuffer(string: ":\n\n")
    }

    mutating func end() { self.time = .zero }
}

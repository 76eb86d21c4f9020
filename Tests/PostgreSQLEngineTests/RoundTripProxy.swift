import Foundation
import Synchronization
import TestSupport

@testable import EngineConformance
@testable import PostgreSQLEngine

/// Stands between an engine and PostgreSQL, and cuts a connection at a chosen point of a chosen flight.
///
/// A flight is what a client sends before it waits: messages up to a `Sync` or a simple query. It is
/// passed on as a whole. The first flight of a connection begins the session. The reply to a flight may
/// be kept for a while, as a network of that round trip would.
final class RoundTripProxy: Sendable {
    /// The point of a flight at which its connection is cut.
    enum Point: CaseIterable {
        /// The server gets nothing of it.
        case before
        /// The server gets half of it.
        case inside
        /// The server executes it, and the client hears nothing of that.
        case behind
        /// The client gets half of the reply.
        case insideReply
        /// The client gets the reply.
        case behindReply
    }

    private struct State {
        /// Flights to come up to the one that is cut; `nil` if none is.
        var roundTripsLeft: Int?
        var point = Point.before
        var hasCut = false
        var isClosed = false
        /// The flights with parameters that came since the last look.
        var roundTrips = 0
        var links: [ObjectIdentifier: Link] = [:]
    }

    private let server: String
    private let folder: String
    private let port: Int
    private let listener: Int32
    private let state = Mutex(State())
    /// How long a reply is kept.
    private let delayMilliseconds: UInt32
    private let nanosecondsPerByte: Int64
    private let passed = Atomic<Int64>(0)

    /// Takes connections on a socket in a folder, for PostgreSQL's socket in another one.
    init(
        to server: String,
        in folder: String,
        delayMilliseconds: UInt32 = 0,
        nanosecondsPerByte: Int64 = 0
    ) throws {
        self.delayMilliseconds = delayMilliseconds
        self.nanosecondsPerByte = nanosecondsPerByte
        self.server = server + "/.s.PGSQL.5432"
        self.folder = folder
        self.port = FreePort.take()
        self.listener = try UnixSocket.listen(at: "\(folder)/.s.PGSQL.\(self.port)")
        Thread.detachNewThread { self.accept() }
    }

    /// The same database through the proxy.
    func target(_ direct: ConnectionTarget) throws -> ConnectionTarget {
        let name = direct.databaseName ?? ""
        return try ConnectionTarget(
            "postgresql:///\(name)?host=\(self.folder)&port=\(self.port)&user=tidemark"
        )
    }

    /// Cuts the flight that is so many flights ahead, of whichever connection.
    func arm(_ roundTrips: Int, _ point: Point) {
        self.state.withLock {
            $0.roundTripsLeft = roundTrips
            $0.point = point
            $0.hasCut = false
        }
    }

    /// Cuts none any more; returns whether one was cut.
    func disarm() -> Bool {
        self.state.withLock {
            $0.roundTripsLeft = nil
            return $0.hasCut
        }
    }

    /// So many bytes has a statement without parameters, as the end of a snapshot, which nobody waits for.
    private static let bareBytesMax = 48

    /// The flights of all connections since the last call, but those of a statement without parameters.
    func takeRoundTrips() -> Int {
        self.state.withLock { state in
            defer { state.roundTrips = 0 }
            return state.roundTrips
        }
    }

    /// Cuts all connections between two flights.
    func dropAll() {
        let links = self.state.withLock { Array($0.links.values) }
        for link in links { link.cut() }
    }

    func close() {
        self.state.withLock { $0.isClosed = true }
        shutdown(self.listener, Int32(SHUT_RDWR))
        self.dropAll()
    }

    private func accept() {
        while true {
            let client = Foundation.accept(self.listener, nil, nil)
            guard client >= 0, !self.state.withLock({ $0.isClosed }) else { break }
            guard let server = try? UnixSocket.connect(to: self.server) else {
                Foundation.close(client)
                continue
            }
            let link = Link(client: client, server: server, proxy: self)
            self.state.withLock { $0.links[ObjectIdentifier(link)] = link }
            link.start()
        }
        Foundation.close(self.listener)
    }

    /// The time that flights of connections that write have taken, by the delay and by their bytes.
    ///
    /// A slow machine takes no more of it. Connections that poll by the machine's clock do not add to it.
    var nanoseconds: Int64 { self.passed.load(ordering: .relaxed) }

    /// Keeps a reply for as long as the proxy is to.
    fileprivate func delay(ofWrite: Bool) {
        if ofWrite {
            self.passed.add(Int64(self.delayMilliseconds) * 1_000_000, ordering: .relaxed)
        }
        if self.delayMilliseconds > 0 { usleep(self.delayMilliseconds * 1_000) }
    }

    /// Counts a flight; returns where it is to be cut, or `nil`.
    fileprivate func requestCame(bytes: Int, ofWrite: Bool) -> Point? {
        if ofWrite { self.passed.add(Int64(bytes) * self.nanosecondsPerByte, ordering: .relaxed) }
        return self.state.withLock { state in
            if bytes > Self.bareBytesMax { state.roundTrips += 1 }
            guard let left = state.roundTripsLeft else { return nil }
            state.roundTripsLeft = left > 1 ? left - 1 : nil
            guard left == 1 else { return nil }
            state.hasCut = true
            return state.point
        }
    }

    fileprivate func ended(_ link: Link) {
        self.state.withLock { $0.links[ObjectIdentifier(link)] = nil }
    }
}

/// A connection through the proxy: a thread for each direction.
private final class Link: Sendable {
    private struct State {
        var roundTrips = 0
        /// Whether it has begun a transaction that writes.
        var writes = false
        /// The flight whose reply is cut, and where.
        var cut: (roundTrip: Int, point: RoundTripProxy.Point)?
        var threads = 2
    }

    private let client: Int32
    private let server: Int32
    private let proxy: RoundTripProxy
    private let state = Mutex(State())

    init(client: Int32, server: Int32, proxy: RoundTripProxy) {
        self.client = client
        self.server = server
        self.proxy = proxy
    }

    func start() {
        Thread.detachNewThread {
            self.passRequests()
            self.threadEnded()
        }
        Thread.detachNewThread {
            self.passReplies()
            self.threadEnded()
        }
    }

    func cut() {
        self.state.withLock { state in
            guard state.threads > 0 else { return }
            shutdown(self.client, Int32(SHUT_RDWR))
            shutdown(self.server, Int32(SHUT_RDWR))
        }
    }

    private func threadEnded() {
        self.cut()
        let isLast = self.state.withLock { state in
            state.threads -= 1
            return state.threads == 0
        }
        guard isLast else { return }
        close(self.client)
        close(self.server)
        self.proxy.ended(self)
    }

    private func passRequests() {
        var messages = Messages(beginsWithStartup: true)
        var roundTrip: [UInt8] = []
        while let bytes = UnixSocket.read(self.client) {
            messages.append(bytes)
            while let message = messages.next() {
                roundTrip += message.bytes
                guard message.endsRoundTrip else { continue }
                guard self.pass(roundTrip) else { return }
                roundTrip = []
            }
        }
    }

    private func pass(_ roundTrip: [UInt8]) -> Bool {
        let writes = self.state.withLock { state in
            state.writes = state.writes || Self.beginsWrite(roundTrip)
            return state.writes
        }
        let point = self.proxy.requestCame(bytes: roundTrip.count, ofWrite: writes)
        switch point {
        case .before?: return false
        case .inside?:
            _ = UnixSocket.write(roundTrip.prefix(roundTrip.count / 2), to: self.server)
            return false
        case .behind?, .insideReply?, .behindReply?, nil:
            self.state.withLock { state in
                state.roundTrips += 1
                if let point { state.cut = (state.roundTrips, point) }
            }
            return UnixSocket.write(roundTrip[...], to: self.server)
        }
    }

    /// Whether one of its statements begins a transaction that writes.
    private static func beginsWrite(_ roundTrip: [UInt8]) -> Bool {
        Data(roundTrip).range(of: Data(TransactionSQL.begin.text.utf8)) != nil
    }

    private func passReplies() {
        var messages = Messages(beginsWithStartup: false)
        var number = 1
        var kept: [UInt8] = []
        while let bytes = UnixSocket.read(self.server) {
            messages.append(bytes)
            while let message = messages.next() {
                kept += message.bytes
                guard message.isReadyForQuery else { continue }
                let (cut, writes) = self.state.withLock { ($0.cut, $0.writes) }
                let reply = kept
                kept = []
                defer { number += 1 }
                self.proxy.delay(ofWrite: writes)
                guard let cut, cut.roundTrip == number else {
                    guard UnixSocket.write(reply[...], to: self.client) else { return }
                    continue
                }
                let count =
                    switch cut.point {
                    case .insideReply: reply.count / 2
                    case .behindReply: reply.count
                    case .before, .inside, .behind: 0
                    }
                _ = UnixSocket.write(reply.prefix(count), to: self.client)
                return
            }
        }
    }
}

/// Messages of PostgreSQL's protocol, out of bytes as they come.
private struct Messages {
    struct Message {
        let bytes: [UInt8]
        /// `nil` for the message that begins a session.
        let kind: UInt8?

        /// Whether the client waits now, or has said goodbye.
        var endsRoundTrip: Bool { self.kind.map { Array("SQX".utf8).contains($0) } ?? true }

        var isReadyForQuery: Bool { self.kind == UInt8(ascii: "Z") }
    }

    private var bytes: [UInt8] = []
    private var isAtStartup: Bool

    init(beginsWithStartup: Bool) { self.isAtStartup = beginsWithStartup }

    mutating func append(_ bytes: [UInt8]) { self.bytes += bytes }

    mutating func next() -> Message? {
        let start = self.isAtStartup ? 0 : 1
        guard self.bytes.count >= start + 4 else { return nil }
        let length = self.bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        guard self.bytes.count >= start + length else { return nil }
        let message = Message(
            bytes: Array(self.bytes.prefix(start + length)),
            kind: self.isAtStartup ? nil : self.bytes[0]
        )
        self.bytes.removeFirst(start + length)
        self.isAtStartup = false
        return message
    }
}

/// Blocking calls on local sockets.
private enum UnixSocket {
    struct Failed: Error {
        let errno: Int32
    }

    static func listen(at path: String) throws -> Int32 {
        let descriptor = try self.make()
        guard self.with(path, { bind(descriptor, $0, $1) }) == 0, Foundation.listen(descriptor, 64) == 0
        else {
            throw Failed(errno: errno)
        }
        return descriptor
    }

    static func connect(to path: String) throws -> Int32 {
        let descriptor = try self.make()
        guard self.with(path, { Foundation.connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            throw Failed(errno: errno)
        }
        return descriptor
    }

    private static func make() throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failed(errno: errno) }
        return descriptor
    }

    // SAFETY: the address lives until the call returns, and its path ends with a zero byte.
    private static func with(
        _ path: String,
        _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8.prefix(107))
        // SAFETY: as above; a path of 107 bytes at most fits before the last byte.
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // SAFETY: every address begins as `sockaddr` does.
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// The bytes that have come; `nil` at the end.
    static func read(_ descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Foundation.read(descriptor, &buffer, buffer.count)
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }

    static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
        var rest = Array(bytes)
        while !rest.isEmpty {
            let count = send(descriptor, rest, rest.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { return false }
            rest.removeFirst(count)
        }
        return true
    }
}

extension EngineUnderTest {
    /// An engine whose connections go through a proxy.
    static func withNotes(behind proxy: RoundTripProxy) async throws -> EngineUnderTest {
        try await self.withNotes(.postgreSQL) { settings in
            settings.postgreSQL = { $0.target = (try? proxy.target($0.target)) ?? $0.target }
        }
    }
}

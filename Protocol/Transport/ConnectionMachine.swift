package import WireProtocol

/// Decides the actions of one side of a connection, from streams, windows and counts alone.
///
///     handshake ──welcome──▶ open ──drain──▶ open, draining
///         │                   │                  │ last end
///         └───────────────────┴─▶ closed ◀───────┘
///
/// This type has the rules that both sides share: the frames that a state permits, the drain, the
/// end. A `Side` adds its handshake, its streams and its rules, in extensions of the machine.
///
/// - A frame that the peer must not send closes the connection: the action is `.close(violation)`.
/// - A harmless race yields `.ignore`: a credit or a cancel for a stream that has ended, any event
///   after the end.
/// - An event that only a bug of this side can cause stops the process.
@usableFromInline
package enum ConnectionMachine<Side: ConnectionSide>: ~Copyable {
    /// Exits: the welcome, an unexpected frame, a drain, the end.
    case handshake(Side.Handshake)
    /// Exits: a violation, a drain without streams, the last stream of a drain, the end.
    case open(OpenConnection<Side>)
    case closed
}

/// The part of the machine that one side of a connection adds.
@usableFromInline
package protocol ConnectionSide {
    /// The handshake, before streams may be opened.
    associatedtype Handshake
    /// This side's state of a stream that has not ended.
    associatedtype Stream
    /// A violation of the protocol by the peer, as this side reports it.
    associatedtype Violation: Error

    /// A frame arrived before the handshake was over.
    static var frameBeforeWelcome: Violation { get }
}

/// The action for a frame of the peer.
@usableFromInline
package protocol FrameAction {
    associatedtype Violation: Error

    static func close(_ violation: Violation) -> Self
    static var ignore: Self { get }
}

/// The action when the peer announces its end.
package enum OnGoAway: Equatable {
    /// Open streams continue, and the connection closes with the last of them.
    case drain
    case close
    case ignore
}

/// The action when this side wants to end the connection.
package enum OnDrain: Equatable {
    case announce
    case announceAndClose
    case ignore
}

// MARK: - Frames

extension ConnectionMachine {
    /// A frame arrived that is valid only on open connections.
    ///
    /// - Parameter rule: Its rule there.
    /// - Returns: The rule's result, or that the frame closes the connection or is ignored.
    @inlinable @inline(__always)
    package mutating func frameReceived<Action: FrameAction>(
        _ rule: (inout OpenConnection<Side>) throws(Side.Violation) -> Action
    ) -> Action where Action.Violation == Side.Violation {
        switch consume self {
        case .handshake:
            self = .closed
            return .close(Side.frameBeforeWelcome)
        case .open(var open):
            do throws(Side.Violation) {
                let action = try rule(&open)
                self = open.isDrained ? .closed : .open(open)
                return action
            } catch {
                self = .closed
                return .close(error)
            }
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// A frame arrived that is valid only in the handshake.
    ///
    /// - Parameters:
    ///   - late: The violation on an open connection.
    ///   - rule: Its rule in the handshake.
    /// - Returns: The rule's result, or that the frame closes the connection or is ignored.
    @inlinable
    package mutating func handshakeFrameReceived<Action: FrameAction>(
        late: Side.Violation,
        _ rule: (inout Side.Handshake) throws(Side.Violation) -> Action
    ) -> Action where Action.Violation == Side.Violation {
        switch consume self {
        case .handshake(var handshake):
            do throws(Side.Violation) {
                let action = try rule(&handshake)
                self = .handshake(handshake)
                return action
            } catch {
                self = .closed
                return .close(error)
            }
        case .open:
            self = .closed
            return .close(late)
        case .closed:
            self = .closed
            return .ignore
        }
    }
}

// MARK: - This side

extension ConnectionMachine {
    /// Performs an event of this side on the open connection; does nothing after the end.
    ///
    /// - Parameters:
    ///   - nothing: The result after the end.
    ///   - body: The event. If it ends the last stream of a drain, the connection closes.
    /// - Returns: The body's result, or `nothing`.
    @inlinable @inline(__always)
    package mutating func act<Result>(
        orElse nothing: Result,
        _ body: (inout OpenConnection<Side>) -> Result
    ) -> Result {
        switch consume self {
        case .handshake:
            preconditionFailure("this side acts on streams before the handshake is over")
        case .open(var open):
            let result = body(&open)
            self = open.isDrained ? .closed : .open(open)
            return result
        case .closed:
            self = .closed
            return nothing
        }
    }

    /// The result of the open connection, or `nothing` before and after.
    @inlinable @inline(__always)
    package borrowing func look<Result>(
        orElse nothing: Result,
        _ body: (OpenConnection<Side>) -> Result
    ) -> Result {
        switch self {
        case .handshake: nothing
        case .open(let open): body(open)
        case .closed: nothing
        }
    }

    /// Whether the connection is between its handshake and its end.
    @inlinable package var isOpen: Bool { self.look(orElse: false) { _ in true } }

    /// Whether the connection closes with the last of its streams.
    @inlinable package var isDraining: Bool { self.look(orElse: false) { $0.isDraining } }
}

// MARK: - The end

extension ConnectionMachine {
    /// The peer sent a `goaway`, to drain or to close.
    package mutating func goAwayReceived(_ reason: CloseReason) -> OnGoAway {
        switch consume self {
        case .handshake:
            self = .closed
            return .close
        case .open(var open):
            guard reason == .drain, !open.streams.isEmpty else {
                self = .closed
                return .close
            }
            let wasDraining = open.isDraining
            open.isDraining = true
            self = .open(open)
            return wasDraining ? .ignore : .drain
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// This side drains: open streams are answered, and no more are opened.
    package mutating func drainStarted() -> OnDrain {
        switch consume self {
        case .handshake:
            self = .closed
            return .announceAndClose
        case .open(var open):
            guard !open.streams.isEmpty else {
                self = .closed
                return .announceAndClose
            }
            open.isDraining = true
            self = .open(open)
            return .announce
        case .closed:
            self = .closed
            return .ignore
        }
    }

    /// The connection has ended, or this side ends it.
    ///
    /// - Returns: Whether it was open until now.
    @inlinable
    package mutating func connectionEnded() -> Bool {
        switch consume self {
        case .handshake:
            self = .closed
            return true
        case .open:
            self = .closed
            return true
        case .closed:
            self = .closed
            return false
        }
    }
}

// Values of Apple's receivers. Nothing here makes them: they are declared for code that names them
// where it can import CoreLocation. Numbers are Apple's.

/// An app's permission to learn exact locations.
///
/// - Source: Apple's `CLAccuracyAuthorization`.
public enum CLAccuracyAuthorization: Int, Sendable {
    /// Exact locations.
    case fullAccuracy = 0
    /// Locations that are some kilometres off.
    case reducedAccuracy = 1
}

/// An app's permission to learn locations.
///
/// - Source: Apple's `CLAuthorizationStatus`.
public enum CLAuthorizationStatus: Int32, Sendable {
    /// The user has not been asked.
    case notDetermined = 0
    /// The app may not ask.
    case restricted = 1
    /// The user said no.
    case denied = 2
    /// At any time.
    case authorizedAlways = 3
    /// While the app is in use.
    case authorizedWhenInUse = 4
}

/// The movement that an app expects.
///
/// - Source: Apple's `CLActivityType`.
public enum CLActivityType: Int, Sendable {
    /// Any other movement.
    case other = 1
    /// By car, along roads.
    case automotiveNavigation = 2
    /// On foot.
    case fitness = 3
    /// In a vehicle that follows no roads.
    case otherNavigation = 4
    /// In the air.
    case airborne = 5
}

/// The side of a device that is up.
///
/// - Source: Apple's `CLDeviceOrientation`.
public enum CLDeviceOrientation: Int32, Sendable {
    /// Not known.
    case unknown = 0
    /// Upright, the top of the device up.
    case portrait = 1
    /// Upright, the top of the device down.
    case portraitUpsideDown = 2
    /// Upright, its left side down.
    case landscapeLeft = 3
    /// Upright, its right side down.
    case landscapeRight = 4
    /// Level, the screen up.
    case faceUp = 5
    /// Level, the screen down.
    case faceDown = 6
}

/// The distance of a beacon.
///
/// - Source: Apple's `CLProximity`.
public enum CLProximity: Int, Sendable {
    /// Not known.
    case unknown = 0
    /// Next to the device.
    case immediate = 1
    /// Near.
    case near = 2
    /// Far.
    case far = 3
}

/// The side of a region's border on which the device is.
///
/// - Source: Apple's `CLRegionState`.
public enum CLRegionState: Int, Sendable {
    /// Not known.
    case unknown = 0
    /// Inside.
    case inside = 1
    /// Outside.
    case outside = 2
}

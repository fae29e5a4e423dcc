/** The parts of three.js that the panel uses: the library has no types of its own. */
declare module 'three' {
  export interface Vector3 {
    set(x: number, y: number, z: number): this;
  }

  export class Object3D {
    readonly position: Vector3;
    readonly scale: { setScalar(value: number): void };
    readonly up: Vector3;
    frustumCulled: boolean;
    renderOrder: number;
    visible: boolean;
    add(...objects: Object3D[]): this;
    remove(...objects: Object3D[]): this;
    lookAt(x: number, y: number, z: number): void;
  }

  export class Scene extends Object3D {}

  export class PerspectiveCamera extends Object3D {
    constructor(fieldOfViewDegrees: number, aspect: number, near: number, far: number);
    aspect: number;
    near: number;
    far: number;
    updateProjectionMatrix(): void;
  }

  export class BufferAttribute {
    constructor(array: Float32Array, itemSize: number);
  }

  export class BufferGeometry {
    setAttribute(name: 'position' | 'color', attribute: BufferAttribute): this;
    dispose(): void;
  }

  interface MaterialOptions {
    readonly vertexColors?: boolean;
    readonly depthTest?: boolean;
    readonly depthWrite?: boolean;
  }

  export class Material {
    dispose(): void;
  }

  export class LineBasicMaterial extends Material {
    constructor(options: MaterialOptions);
  }

  export class PointsMaterial extends Material {
    constructor(options: MaterialOptions & { readonly size: number; readonly sizeAttenuation: boolean });
  }

  export class LineSegments extends Object3D {
    constructor(geometry: BufferGeometry, material: Material);
    geometry: BufferGeometry;
  }

  export class Points extends Object3D {
    constructor(geometry: BufferGeometry, material: Material);
    geometry: BufferGeometry;
  }

  export const LinearSRGBColorSpace: string;

  export class WebGLRenderer {
    constructor(options: {
      readonly canvas: HTMLCanvasElement;
      readonly context: WebGL2RenderingContext;
      readonly antialias: boolean;
      readonly alpha: boolean;
    });
    outputColorSpace: string;
    setPixelRatio(ratio: number): void;
    setSize(width: number, height: number, isStyled: boolean): void;
    render(scene: Scene, camera: PerspectiveCamera): void;
    dispose(): void;
  }
}

declare module 'three/addons/lines/LineMaterial.js' {
  import { Material } from 'three';
  export class LineMaterial extends Material {
    constructor(options: {
      readonly vertexColors: boolean;
      /** Width in CSS pixels. */
      readonly linewidth: number;
      readonly depthTest?: boolean;
      readonly depthWrite?: boolean;
    });
  }
}

declare module 'three/addons/lines/LineSegmentsGeometry.js' {
  import { BufferGeometry } from 'three';
  export class LineSegmentsGeometry extends BufferGeometry {
    setPositions(places: Float32Array): this;
    setColors(colors: Float32Array): this;
  }
}

declare module 'three/addons/lines/LineSegments2.js' {
  import { Object3D } from 'three';
  import type { LineMaterial } from 'three/addons/lines/LineMaterial.js';
  import type { LineSegmentsGeometry } from 'three/addons/lines/LineSegmentsGeometry.js';
  export class LineSegments2 extends Object3D {
    constructor(geometry: LineSegmentsGeometry, material: LineMaterial);
    geometry: LineSegmentsGeometry;
  }
}
